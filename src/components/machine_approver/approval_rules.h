// Which certificate requests of machines are approved, and which role a node gets: pure.
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
  std::string reason;   // one word, of an Event or a condition: "UnknownMachine"
  std::string message;  // a sentence
  std::string node;     // whom the request is about, as far as that is known
  Seconds grace{0};     // how long it may stay pending before that is reported

  bool operator==(const Verdict&) const = default;
};

// What requests are judged by.
struct ApprovalFacts {
  kube::MachineTable machines;
  // A name without a row may join by the credential alone. On the bootstrap machine of a platform whose installer writes no
  // table; in the cluster a person lets such a machine in (`kubectl certificate approve`).
  bool admits_by_credential = false;
  std::set<std::string, std::less<>> nodes;  // names of all Nodes
  NodeRecords records;
  Approvals approvals;                // of client certificates
  bool certificates_have_ids = true;  // see credential_of
};

// Judges a CertificateSigningRequest of a kubelet.
//
//   - A first client certificate: a user of machines that join, with exactly its groups, asks for system:node:NAME in
//   system:nodes,
//     with the kubelet's usages, without alternative names. NAME has a row of the machine table, whose role is not master unless
//     the credential is the masters'. No Node has the name, and no other key has an approval for it.
//   - A machine comes back after its certificate has ended: as before, but its Node exists, and the request has a key that the
//   node
//     had a certificate for.
//   - A renewal of a client certificate is kube-controller-manager's to approve. One that it does not approve is reported.
//   - A serving certificate: the node itself asks for its own name, it has registered, and the names are those of its last
//   serving
//     certificate, or each is its own: of its row, where that has addresses, else of its Node when that was first seen.
//
//   returns  nothing for a request that is not to be judged here: decided already, or of another signer
std::optional<Verdict> judge_request(const Json& request, const ApprovalFacts& known);

// The merge patch that gives a node of the table the labels of its role; nothing when it has all. A master gets its taint
// together with the label "master", as it registers: who takes the taint off later means it (schedulable masters).
std::optional<Json> role_patch(const Json& node, const kube::MachineTable& machines);

}  // namespace slipway::components::machine_approver
