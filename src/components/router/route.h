// What one Route says, read and checked (route.openshift.io/v1). Pure.
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
  std::string created;  // RFC 3339
  std::string host;     // lower case
  std::string path;     // "/shop", without a slash at its end; empty: all paths
  Termination termination = Termination::none;
  Insecure insecure = Insecure::allow;
  Secret certificate;          // PEM: certificate, its chain, key; empty: the router's own
  std::string destination_ca;  // PEM; empty: the authority of services
  std::vector<Target> targets;
  std::string port;  // of the pods, name or number; empty: their first

  // Annotations haproxy.router.openshift.io/...; empty: not given
  std::string balance, timeout, timeout_tunnel, rewrite, hsts, cookie;
  bool has_cookie = true;
  std::vector<std::string> sources;  // addresses and networks that may come; empty: all

  std::vector<std::string> remarks;  // what of it is not followed, for its owner

  std::string full_name() const { return space + "/" + name; }
  bool operator==(const Route&) const = default;
};

struct Refusal {
  std::string reason;  // "ExtendedValidationFailed"
  std::string message;

  bool operator==(const Refusal&) const = default;
};

struct Reading {
  std::string host;            // also of a route that is refused
  std::optional<Route> route;  // nothing: refused
  Refusal refusal;
};

// has_service_ca: the authority of services is known, so that reencrypt routes need none of their own
// time: 0.3 ms for a certificate that is new to this thread, 0.01 ms otherwise
Reading read_route(const Json& object, const Options& options, bool has_service_ca);

}  // namespace slipway::components::router
