// The approver: lets the machines of the installation in, and nobody else. On the bootstrap machine it works by the table that
// the installer wrote, in the cluster by the table that the cluster keeps; both at once are no fight.
#pragma once

#include "kube/client.h"
#include "operators/approver/approval_rules.h"
#include "operators/lib/program.h"

#include <functional>
#include <optional>
#include <string_view>

namespace slipway::operators {

// Where the cluster keeps the table (approval_rules.h).
inline constexpr std::string_view machine_table_space = "openshift-config";
inline constexpr std::string_view machine_table_name = "machine-addresses";

struct ApproverInput {
  // The table; nothing: there is none, names and addresses are not checked and nodes get no role.
  std::optional<MachineTable> machines{};
  // Whether the table is the ConfigMap instead, as it is at each moment. Without one, or with one that cannot be read, nobody may
  // join.
  bool follows_table = false;
  // Returns when there is nothing left to do; none: only a stop ends it.
  std::function<Result<>(const sys::Context&)> end{};
};

// Follows certificate requests and nodes: approves by approval_rules, puts an Event on each request that stays pending, labels
// nodes of the table with their role. What stayed pending is judged again as nodes and table change. An API that is not up yet is
// waited for.
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

}  // namespace slipway::operators
