// slipway repair: gives a running cluster what later releases install from the start, without an upgrade. Access rules that are
// missing, a machine table, labels that show which pods of users a stricter policy would refuse (docs/command-line.md).
#pragma once

#include "kube/client.h"
#include "kube/ensure.h"
#include "net/environment.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::cluster {

// One object and what became of it: "ClusterRoleBinding system:nodes", "created".
struct RepairLine {
  std::string object;
  std::string state;
  std::string detail{};  // empty, or why

  bool operator==(const RepairLine&) const = default;
};
using ToldRepair = std::function<void(const RepairLine&)>;

// Repairs the cluster of a kubeconfig. A second call changes nothing. Works while nodes are not Ready: it only speaks to the API.
//
//   told    called once for each object, also for those that are as they should be
//   errors  those of the API; objects that the server refuses are told first
//   time    seconds; no longer than two minutes for the access rules
Result<> repair(const net::Environment& environment, const kube::Access& access, const ToldRepair& told);

// The same with another API. `take_warnings` returns the warnings of the answers since its last call.
Result<> repair(const sys::Context& context, kube::Api& api, const std::function<std::vector<std::string>()>& take_warnings,
                const ToldRepair& told);

// Roles, bindings and admission policies of the release (images/manifests). Pure.
std::vector<kube::Manifest> access_manifests();

// Whether people's pods run there: neither of the platform (openshift, openshift-*, kube-*) nor with a policy of its own. Pure.
bool needs_pod_security_labels(const Json& name_space);

}  // namespace slipway::cluster
