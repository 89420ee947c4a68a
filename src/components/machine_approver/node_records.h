// What the approver remembers of nodes: the keys that prove who they are, and the names of their serving certificates. It is in
// ConfigMap openshift-cluster-machine-approver/node-identities, a key a node, which only the approver may write:
//   worker-0: '{"keys":["5f0c..."],"joined":["10.0.0.9"],"serving":{"names":["worker-0"],"addresses":["10.0.0.9"]},...}'
// All of it follows from certificate requests, Nodes and the machine table; it outlives the requests, which Kubernetes removes an
// hour after their approval. Pure.
#pragma once

#include "base/json.h"
#include "kube/machine_table.h"
#include "net/x509.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_approver {

inline constexpr std::string_view records_space = "openshift-cluster-machine-approver";
inline constexpr std::string_view records_name = "node-identities";

// The credential that a machine asks with before it has a certificate of its own.
enum class Credential { none, worker, master };

// Of a CertificateSigningRequest: the user of machines that join, and how it proved who it is. The API server writes both, from
// what it verified itself.
//
//   - A master has the token of node-bootstrapper-master, or, during the installation, the installer's client certificate, which
//     has the name of node-bootstrapper: credential-id is "X509SHA256=...".
//   - A worker has a token of node-bootstrapper.
//
//   certificates_have_ids  whether the API server writes the credential-id of certificates, as Kubernetes 1.32 and newer do;
//   where
//                          it does not, nothing tells the two uses of node-bootstrapper apart, and both count as master
Credential credential_of(const Json& request, bool certificates_have_ids);

struct ServingNames {
  std::vector<std::string> names;      // sorted
  std::vector<std::string> addresses;  // sorted, in one spelling each

  bool operator==(const ServingNames&) const = default;
};

ServingNames serving_names(const net::RequestInfo& content);

struct NodeRecord {
  std::vector<std::string> keys{};  // SHA-256 of the public halves, newest first; two: a machine may lose its power before it has
                                    // stored a new one
  std::vector<std::string> joined{};      // addresses of its Node when that was first seen
  std::optional<ServingNames> serving{};  // of its last serving certificate
  bool had_row = false;
  bool is_registered = false;  // its Node was seen
  std::string since{};         // of requests: those made until then were of an earlier machine of this name

  bool operator==(const NodeRecord&) const = default;
};

// By the node's name.
using NodeRecords = std::map<std::string, NodeRecord, std::less<>>;

// A certificate request as far as records are concerned.
struct RequestFacts {
  std::string node;
  std::string time;  // of its creation, "2026-11-24T12:00:00Z"
  bool is_client = false;
  bool is_approved = false;
  bool is_issued = false;
  Credential credential = Credential::none;
  std::string key;         // of a client's
  ServingNames serving{};  // of a serving certificate's
};

// Those of kubelets that can be read, the oldest first.
std::vector<RequestFacts> read_requests(const std::vector<Json>& requests, bool certificates_have_ids);

// What is known now.
//
//   machines  null: unknown, so no row counts as gone
NodeRecords learn(NodeRecords records, const std::vector<RequestFacts>& requests, const std::vector<Json>& nodes,
                  const kube::MachineTable* machines);

// The keys of approved requests for names, by name; those of earlier machines of a name are left out.
using Approvals = std::map<std::string, std::vector<std::string>, std::less<>>;
Approvals approvals_of(const std::vector<RequestFacts>& requests, const NodeRecords& records);

// The rows to add to the table: a name that got a client certificate by a credential to join with, and never had a row. The role
// is the credential's.
kube::MachineTable rows_to_add(const std::vector<RequestFacts>& requests, const NodeRecords& records,
                               const kube::MachineTable& machines);

// From the ConfigMap; `unreadable` gets a sentence for each key that is left out because it is no record.
NodeRecords parse_records(const Json& config_map, std::vector<std::string>& unreadable);
Json with_records(Json config_map, const NodeRecords& records);
Json new_records_map();

// Of clusters whose nodes' keys are in annotations of the Nodes (slipway.internal/kubelet-keys). To be used once, when there is
// no ConfigMap: a node may write its own annotations.
NodeRecords records_of_annotations(const std::vector<Json>& nodes);

}  // namespace slipway::components::machine_approver
