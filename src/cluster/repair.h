// slipway repair: adds to a running cluster, without an upgrade, what later releases install: missing access rules, a machine
// table, and labels that show which user pods a stricter policy would refuse (docs/command-line.md).
#pragma once

#include "kube/client.h"
#include "kube/ensure.h"
#include "net/environment.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::cluster {

// An object and its state after the repair: "ClusterRoleBinding system:nodes", "created".
struct RepairLine {
  std::string object;
  std::string state;
  std::string detail{};  // the reason; may be empty

  bool operator==(const RepairLine&) const = default;
};
using ReportLine = std::function<void(const RepairLine&)>;

// Repairs the cluster of a kubeconfig. A second call changes nothing. Works while nodes are not Ready, because it uses the API
// only.
//
//   report  called once for each object, also for unchanged ones
//   errors  those of the API; objects that the server refuses are reported first
//   time    seconds; at most two minutes for the access rules
Result<> repair(const net::Environment& environment, const kube::Access& access, const ReportLine& report);

// The same with another API. `take_warnings` returns the warnings of the answers since its last call.
Result<> repair(const sys::Context& context, kube::Api& api, const std::function<std::vector<std::string>()>& take_warnings,
                const ReportLine& report);

// Roles, bindings and admission policies of the release (images/manifests), without the annotations that say which releases
// contain them. Pure.
std::vector<kube::Manifest> access_manifests();

// Whether a namespace is for user pods: it is not one of the platform (openshift, openshift-*, kube-*), and it has no policy of
// its own. Pure.
bool needs_pod_security_labels(const Json& name_space);

}  // namespace slipway::cluster
