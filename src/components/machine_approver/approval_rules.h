// Which certificate requests of machines are approved, and which role a node gets. Pure.
#pragma once

#include "base/json.h"
#include "base/time.h"
#include "components/machine_approver/node_records.h"
#include "kube/machine_table.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_approver {

struct Verdict {
  bool approve = false;
  std::string reason;   // reason of an Event or a condition: "UnknownMachine"
  std::string message;  // a sentence
  std::string node;     // node of the request, as far as it is known
  Seconds grace{0};     // how long the request may stay pending before that is reported

  bool operator==(const Verdict&) const = default;
};

// What decisions depend on.
struct ApprovalFacts {
  kube::MachineTable machines;
  // Whether a name without a row may join because of its credential alone. True on the bootstrap machine of a platform whose
  // installer writes no table. In the cluster, a user must approve such a machine (`kubectl certificate approve`).
  bool admits_by_credential = false;
  std::set<std::string, std::less<>> nodes;  // names of all Nodes
  NodeRecords records;
  Approvals approvals;                // of client certificates, by name
  bool certificates_have_ids = true;  // see credential_of
};

// Decides about a CertificateSigningRequest of a kubelet.
//
//   - The first client certificate of a machine: a user of joining machines, with exactly the groups of that user, requests
//     system:node:NAME in system:nodes, with the usages of a kubelet and without alternative names. NAME has a row in the machine
//     table, not with role removed. A row with role master requires the credential of masters. No Node has the name, and no other
//     key has an approval for it.
//   - A machine that returns after its certificate expired: the same, but its Node exists, and the request has a key that had a
//     certificate for this node before.
//   - The renewal of a client certificate: kube-controller-manager approves it. A renewal that it does not approve is reported.
//   - A serving certificate: the node itself requests its own name and is registered. The names are those of its last serving
//     certificate, or each name belongs to the machine: its row lists it, or, if the row has no addresses, its Node had it when
//     the Node was first seen.
//
//   returns  nothing if there is no decision to make: the request is already decided or has another signer
std::optional<Verdict> judge_request(const Json& request, const ApprovalFacts& facts);

// The merge patch that gives a node the labels of its role in the table. Empty if the node has them all. A master gets its taint
// together with the label "master", when it registers. The taint is not added again later, because an administrator may remove it
// on purpose (schedulable masters).
std::optional<Json> role_patch(const Json& node, const kube::MachineTable& machines);

}  // namespace slipway::components::machine_approver
