// Reads and checks one Route (route.openshift.io/v1). Pure.
#pragma once

#include "base/json.h"
#include "base/secret.h"
#include "components/router/options.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::router {

enum class Termination { none, edge, passthrough, reencrypt };
enum class Insecure { refuse, allow, redirect };  // plain http to a route with TLS

struct Target {
  std::string service;
  int weight = 100;

  bool operator==(const Target&) const = default;
};

struct Route {
  std::string space, name, uid;
  std::string created;    // RFC 3339
  std::string host;       // lower case
  std::string path;       // "/shop", without a trailing slash; empty: all paths
  bool is_exact = false;  // only this path, which may end with a slash
  Termination termination = Termination::none;
  Insecure insecure = Insecure::allow;
  Secret certificate;          // PEM: certificate, chain, key; empty: the router's certificate
  std::string destination_ca;  // PEM; empty: the service CA
  std::vector<Target> targets;
  std::string port;  // name or number of the pods' port; empty: the first

  // Annotations haproxy.router.openshift.io/...; empty: not set
  std::string balance, timeout, timeout_tunnel, rewrite, hsts, cookie;
  bool has_cookie = true;
  std::vector<std::string> sources;  // client addresses and networks that are allowed; empty: all

  std::vector<std::string> remarks;  // settings that are ignored, for the owner of the route

  std::string full_name() const { return space + "/" + name; }
  bool operator==(const Route&) const = default;
};

struct Refusal {
  std::string reason;  // "ExtendedValidationFailed"
  std::string message;

  bool operator==(const Refusal&) const = default;
};

struct RouteResult {
  std::string host;            // also set when the route is refused
  std::optional<Route> route;  // nothing: refused
  Refusal refusal;
};

// has_service_ca: a service CA exists, so reencrypt routes do not need a destination CA
// time: 0.3 ms for a certificate that this thread has not read before, otherwise 0.01 ms
RouteResult read_route(const Json& object, const Options& options, bool has_service_ca);

}  // namespace slipway::components::router
