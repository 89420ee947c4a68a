// What the controller reports to the service of the installation: which hosts are nodes, which operators are available, and that
// the cluster is installed. Pure.
#pragma once

#include "base/json.h"
#include "base/time.h"
#include "components/controller/view.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::assisted_controller {

// What the service answered last.
struct ServiceState {
  Json cluster{};              // GET /v2/clusters/ID
  Json hosts{};                // GET /v2/clusters/ID/hosts
  std::string closed_because;  // not empty: the service does not take reports of this cluster any more
};

// A request that tells the service something. Repeating it changes nothing.
struct Report {
  std::string name;  // completes "... failed": "reporting host master-0 as Joined"
  std::string method;
  std::string path;  // "/v2/infra-envs/ID/hosts/ID/progress"
  Json body;

  bool operator==(const Report&) const = default;
};

struct Decision {
  std::vector<Report> reports{};  // in this order; after a failure the later ones wait
  std::string waits_for{};        // empty: nothing
  std::string over_because{};     // not empty: the work of the controller is done

  bool is_over() const { return !over_because.empty(); }
};

// Hosts whose installation has restarted them are reported as Joined when they have a Node, and as Done when it is ready. A Node
// is that of a host if it has the name of the host, or one of its addresses.
//
// Operators are reported when their state or version changes; the ClusterVersion is the operator `cvo`. In a cluster that is
// finalizing, the certificates of the routers are sent when all of them are available, and the installation is completed. It
// fails after ten hours without that.
//
//   seen   Nodes, ClusterOperators, ClusterVersion, ConfigMap openshift-config-managed/default-ingress-cert
//   until  when the controller ends in any case
Decision decide(const ServiceState& service, const Snapshot& seen, WallTime now, WallTime until);

// Whether the host that carried the service has become a node of the cluster: nobody takes reports any more.
//
//   host  its name; empty: the service runs on another machine
bool service_has_left(const Snapshot& seen, std::string_view host);

inline constexpr std::string_view router_authority_space = "openshift-config-managed";
inline constexpr std::string_view router_authority_name = "default-ingress-cert";

}  // namespace slipway::components::assisted_controller
