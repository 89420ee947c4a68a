// slipway-node approve-csr: lets the machines of the installation in, and nobody else, until the cluster does it itself.
#pragma once

#include "kube/client.h"
#include "node/approval_rules.h"
#include "node/program.h"

#include <optional>
#include <string>

namespace slipway::node {

struct ApproverInput {
  std::optional<MachineTable> machines;  // nothing: no table, names and addresses are not checked and nodes get no role
  std::string until;                     // ends when this file is there
};

// approve-csr KUBECONFIG [--machines=/opt/openshift/manifests/machine-addresses.yaml] [--until=/opt/openshift/.bootkube.done]
//
// Follows certificate requests and nodes: approves by approval_rules, puts an Event on each request that stays pending, labels
// nodes of the table with their role. An API that is not up yet is waited for.
//
//   errors  invalid: arguments, the kubeconfig, the table; denied; cancelled
//   time    until the file of --until is there
Result<> run_approve(const Environment& environment, const Arguments& arguments);

// The same with an API of the caller's.
Result<> approve_requests(const Environment& environment, kube::Api& api, const ApproverInput& input);

}  // namespace slipway::node
