// The configuration of haproxy for a set of routes: texts of data/components/router filled in. Pure.
#pragma once

#include "base/secret.h"
#include "components/program/program.h"
#include "components/router/route.h"
#include "components/router/slots.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::components::router {

// Besides the routes.
struct Material {
  Secret certificate;        // PEM with its key: of hosts whose routes have none
  std::string service_ca{};  // PEM; empty: there is none

  bool operator==(const Material&) const = default;
};

// A backend but for its servers.
struct Backend {
  std::string name;                   // "be_edge_http:NAMESPACE:NAME", as upstream's are called
  std::string head;                   // its lines
  std::vector<std::string> services;  // what stands behind the address of a server, for each service

  bool operator==(const Backend&) const = default;
};

// When one of these is equal to another, a process of the one serves the other too.
struct Configuration {
  std::string frontends;
  std::vector<Backend> backends;             // by name
  std::map<std::string, std::string> lists;  // files beside haproxy.cfg that it reads: "http.map"
  std::map<std::string, Secret> keys;        // below certificates/, each called after its content

  bool operator==(const Configuration&) const = default;
};

// errors: internal: a hole of a template without a value
Result<Configuration> configure(const std::vector<Route>& routes, const Material& material, const Options& options);

// The servers of the routes, weights shared out among the pods of their services.
Servers find_servers(const std::vector<Route>& routes, const Slices& slices);

// haproxy.cfg and the lists beside it, for the folder of one process. errors: as configure
Result<RenderedFiles> render(const Configuration& configuration, const Layout& layout, const Options& options);

}  // namespace slipway::components::router
