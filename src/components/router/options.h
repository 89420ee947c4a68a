// Environment variables that the ingress operator gives to the router. The names are those of openshift/router.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::components::router {

struct Timeouts {  // as haproxy writes them: "30s"
  std::string connect = "5s";
  std::string client = "30s", client_fin = "1s";
  std::string server = "30s", server_fin = "1s";
  std::string tunnel = "1h";
  std::string http_request = "10s";
  std::string http_keep_alive = "300s";
  std::string hard_stop = "1h";  // of a process that another has replaced

  bool operator==(const Timeouts&) const = default;
};

struct Options {
  std::string name;                  // of the IngressController: "default"
  std::string domain;                // of hosts that nobody named: "apps.demo.example.com"
  std::string canonical_hostname{};  // told in the status of routes
  int http_port = 80, https_port = 443, stats_port = 1936;
  int threads = 4;
  int max_connections = 20'000;
  std::string route_labels{}, namespace_labels{};  // selectors; empty: all
  bool shares_hosts = false;                       // routes of several namespaces may have paths of one host
  bool http2 = false;                              // for routes with certificates of their own
  std::string balance = "random", tcp_balance = "source";
  std::string tls_min = "TLSv1.2";
  std::string certificate_folder = "/etc/pki/tls/private";  // tls.crt, tls.key
  std::string service_ca_file{};  // authority of services for reencrypt routes without one of their own; empty: there is none
  Timeouts timeouts{};
  Milliseconds drain_delay{5'000};   // between saying that we are not ready and taking no more connections
  Milliseconds drain_limit{30'000};  // for connections to end after that

  std::string folder = "/var/lib/haproxy/router";  // ours alone; holds keys. Not from the environment, as what follows
  bool has_ipv6 = true;
  int user = 0;  // that haproxy becomes after it opened its ports; 0: it stays what we are

  bool operator==(const Options&) const = default;
};

// variable: the value of a variable of the environment, empty when it is not set
// errors: invalid: every variable that is missing or means nothing
Result<Options> parse_options(const std::function<std::string(const std::string& name)>& variable);

// Whether haproxy takes it as a time that it can wait: "30s", "5m", "1h"; at most 24 days.
bool is_time(std::string_view text);

// Whether it is a way to choose among servers that routes may ask for.
bool is_balance(std::string_view text);

}  // namespace slipway::components::router
