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

// The service does not answer, for longer than the controller waits with patience.
struct Silence {
  WallTime since{};
  std::string reason;

  bool operator==(const Silence&) const = default;
};

// The data of ConfigMap assist::controller_report_name: what a person needs to know of the installation without the service.
//
//   service  what it answered last; its hosts may be missing
//   end      why the controller has ended; empty: it waits for the service
JsonObject report_without_service(const ServiceState& service, const Snapshot& seen, const Silence& silence,
                                  const std::string& end);

// The same when the service answers again.
JsonObject report_with_service();

// Whether the host that carried the service has become a node of the cluster: then no service takes reports.
//
//   host  its name; empty: the service runs on another machine
bool service_has_left(const Snapshot& seen, std::string_view host);

inline constexpr std::string_view router_authority_space = "openshift-config-managed";
inline constexpr std::string_view router_authority_name = "default-ingress-cert";

}  // namespace slipway::components::assisted_controller
