// Environment variables that the ingress operator gives to the router. The names are those of openshift/router.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::components::router {

struct Timeouts {  // in haproxy's format: "30s"
  std::string connect = "5s";
  std::string client = "30s", client_fin = "1s";
  std::string server = "30s", server_fin = "1s";
  std::string tunnel = "1h";
  std::string http_request = "10s";
  std::string http_keep_alive = "300s";
  std::string hard_stop = "1h";  // limit for a process that has been replaced

  bool operator==(const Timeouts&) const = default;
};

struct Options {
  std::string name;                  // name of the IngressController: "default"
  std::string domain;                // domain of routes without a host: "apps.demo.example.com"
  std::string canonical_hostname{};  // reported in the status of routes
  int http_port = 80, https_port = 443, stats_port = 1936;
  int threads = 4;
  int max_connections = 20'000;
  std::string route_labels{}, namespace_labels{};  // selectors; empty: all
  bool shares_hosts = false;                       // routes of several namespaces may have paths of one host
  bool http2 = false;                              // only for routes with their own certificates
  std::string balance = "random", tcp_balance = "source";
  std::string tls_min = "TLSv1.2";
  std::string certificate_folder = "/etc/pki/tls/private";  // tls.crt, tls.key
  std::string service_ca_file{};  // service CA, for reencrypt routes without a destination CA; empty: none
  Timeouts timeouts{};
  Milliseconds drain_delay{5'000};   // from "not ready" until no new connections are accepted
  Milliseconds drain_limit{30'000};  // after that, the limit for connections to end

  // The options below do not come from the environment.
  std::string folder = "/var/lib/haproxy/router";  // used by the router only; contains keys
  bool has_ipv6 = true;
  int user = 0;  // user ID that haproxy switches to after it has opened its ports; 0: it does not switch

  bool operator==(const Options&) const = default;
};

// variable: returns the value of an environment variable, empty when it is not set
// errors: invalid: lists every variable that is missing or invalid
Result<Options> parse_options(const std::function<std::string(const std::string& name)>& variable);

// Whether it is a valid timeout of haproxy: "30s", "5m", "1h"; at most 24 days.
bool is_time(std::string_view text);

// Whether it is a load-balancing algorithm that routes may use.
bool is_balance(std::string_view text);

}  // namespace slipway::components::router
