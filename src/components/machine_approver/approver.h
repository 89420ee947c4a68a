// The approver: lets the machines of the installation join the cluster, and no others. On the bootstrap machine it uses the table
// that the installer wrote, in the cluster the table in the cluster. Both may run at the same time.
#pragma once

#include "components/machine_approver/approval_rules.h"
#include "components/program/program.h"
#include "kube/client.h"

#include <functional>
#include <optional>
#include <string_view>

namespace slipway::components::machine_approver {

struct ApproverInput {
  // The installer's table, on the bootstrap machine. Without it, names join by their credential alone, and each gets a row in the
  // table in the cluster.
  std::optional<kube::MachineTable> machines{};
  // Whether to use the ConfigMap with the table, as a watch delivers it. Records of nodes from before this program are then in
  // the cluster. While there is no table that can be read, no new name joins.
  bool follows_table = false;
  bool certificates_have_ids = true;  // see credential_of
  // Returns when the approver must end. Empty: only a stop ends it.
  std::function<Result<>(const sys::Context&)> end{};
  // Called once, when requests, nodes and table have been listed. Machines can join from then on.
  std::function<void()> on_following{};
};

// Watches certificate requests and nodes. Approves requests by approval_rules, creates an Event for each request that stays
// pending, labels nodes with their role in the table, stores what node_records learns, and adds rows for names that were approved
// without one. Pending requests are decided again when nodes or the table change. Waits for an API that is not up yet. A missing
// namespace delays what is stored in it, but no approval.
//
//   errors  denied; cancelled; those of `end`
//   time    until `end` returns
Result<> approve_requests(const sys::Context& context, kube::Api& api, const ApproverInput& input);

// slipway-node approve-csr KUBECONFIG [--machines=/opt/openshift/manifests/machine-addresses.yaml]
//                                     [--until=/opt/openshift/.bootkube.done]
//
//   errors  also invalid: arguments, the kubeconfig, the table
//   time    until the file of --until exists
Result<> run_approve_until_bootstrapped(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_approver
