// The approver: lets the machines of the installation in, and nobody else. On the bootstrap machine it works by the table that
// the installer wrote, in the cluster by the table that the cluster keeps; both at once are no fight.
#pragma once

#include "components/machine_approver/approval_rules.h"
#include "components/program/program.h"
#include "kube/client.h"

#include <functional>
#include <optional>
#include <string_view>

namespace slipway::components::machine_approver {

struct ApproverInput {
  // The table that the installer wrote, on the bootstrap machine. Without one, names join by their credential alone, and each
  // gets a row in the table that the approver keeps in the cluster.
  std::optional<kube::MachineTable> machines{};
  // Whether the table is the ConfigMap instead, as it is at each moment, and what was learnt of nodes before this program started
  // is in the cluster. While there is no table that can be read, no new name joins.
  bool follows_table = false;
  bool certificates_have_ids = true;  // see credential_of
  // Returns when there is nothing left to do; none: only a stop ends it.
  std::function<Result<>(const sys::Context&)> end{};
  // Called once, when requests, nodes and table were all listed: from then on machines can join.
  std::function<void()> on_following{};
};

// Follows certificate requests and nodes: approves by approval_rules, puts an Event on each request that stays pending, labels
// nodes of the table with their role, keeps what node_records learns, and adds rows for names that were let in without one. What
// stayed pending is judged again as nodes and table change. An API that is not up yet is waited for; a namespace that is not
// there yet delays what would be kept in it and no approval.
//
//   errors  denied; cancelled; those of `end`
//   time    until `end` returns
Result<> approve_requests(const sys::Context& context, kube::Api& api, const ApproverInput& input);

// slipway-node approve-csr KUBECONFIG [--machines=/opt/openshift/manifests/machine-addresses.yaml]
//                                     [--until=/opt/openshift/.bootkube.done]
//
//   errors  also invalid: arguments, the kubeconfig, the table
//   time    until the file of --until is there
Result<> run_approve_until_bootstrapped(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_approver
