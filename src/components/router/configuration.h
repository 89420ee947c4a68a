// Renders the configuration of haproxy for a set of routes from the templates in data/components/router. Pure.
#pragma once

#include "base/secret.h"
#include "components/program/program.h"
#include "components/router/route.h"
#include "components/router/slots.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::components::router {

// Certificates of the router itself.
struct Material {
  Secret certificate;        // PEM with its key, for hosts whose routes have no certificate
  std::string service_ca{};  // PEM; empty: no service CA

  bool operator==(const Material&) const = default;
};

// A backend without its servers.
struct Backend {
  std::string name;                   // "be_edge_http:NAMESPACE:NAME", the same names as upstream's
  std::string head;                   // its lines before the servers
  std::vector<std::string> services;  // for each service, the settings that follow the address of a server

  bool operator==(const Backend&) const = default;
};

// If two configurations are equal, a process that runs one of them also serves the other.
struct Configuration {
  std::string frontends;
  std::vector<Backend> backends;             // sorted by name
  std::map<std::string, std::string> lists;  // other files in the folder of haproxy.cfg, for example "http.map"
  std::map<std::string, Secret> keys;        // files in certificates/, named by the hash of their content

  bool operator==(const Configuration&) const = default;
};

// errors: internal: a placeholder of a template has no value
Result<Configuration> configure(const std::vector<Route>& routes, const Material& material, const Options& options);

// The servers of the routes. The weight of a service is divided among its pods.
Servers find_servers(const std::vector<Route>& routes, const Slices& slices);

// haproxy.cfg and the lists for the folder of one process. errors: those of configure
Result<RenderedFiles> render(const Configuration& configuration, const Layout& layout, const Options& options);

}  // namespace slipway::components::router
