// What the approver remembers about nodes: the keys that identify them and the names of their serving certificates. The records
// are in ConfigMap openshift-cluster-machine-approver/node-identities, one key per node. Only the approver may write it:
//   worker-0: '{"keys":["5f0c..."],"joined":["10.0.0.9"],"serving":{"names":["worker-0"],"addresses":["10.0.0.9"]},...}'
// All records are computed from certificate requests, Nodes and the machine table. They outlive the requests, which Kubernetes
// deletes an hour after their approval. Pure.
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

// The credential of a machine that has no certificate of its own yet.
enum class Credential { none, worker, master };

// The credential of a CertificateSigningRequest: the user of joining machines, and how that user authenticated. The API server
// writes both fields after it has verified them.
//
//   - A master has the token of node-bootstrapper-master. During the installation it has the installer's client certificate,
//     which names node-bootstrapper: credential-id is "X509SHA256=...".
//   - A worker has a token of node-bootstrapper.
//
//   certificates_have_ids  whether the API server writes the credential-id of certificates (Kubernetes 1.32 and newer). Without
//                          it, both uses of node-bootstrapper look the same, and both count as master
Credential credential_of(const Json& request, bool certificates_have_ids);

struct ServingNames {
  std::vector<std::string> names;      // sorted
  std::vector<std::string> addresses;  // sorted, in canonical form

  bool operator==(const ServingNames&) const = default;
};

ServingNames serving_names(const net::RequestInfo& content);

struct NodeRecord {
  // SHA-256 of public keys, newest first. Two, because a machine may lose power before it has stored a new key.
  std::vector<std::string> keys{};
  std::vector<std::string> joined{};      // addresses of its Node when the Node was first seen
  std::optional<ServingNames> serving{};  // names of its last serving certificate
  bool had_row = false;
  bool is_registered = false;  // its Node was seen
  std::string since{};         // requests created until then belong to an earlier machine of this name

  bool operator==(const NodeRecord&) const = default;
};

// By the node's name.
using NodeRecords = std::map<std::string, NodeRecord, std::less<>>;

// The fields of a certificate request that records use.
struct RequestFacts {
  std::string node;
  std::string time;  // creation time, "2026-11-24T12:00:00Z"
  bool is_client = false;
  bool is_approved = false;
  bool is_issued = false;
  Credential credential = Credential::none;
  std::string key;         // of a client certificate
  ServingNames serving{};  // of a serving certificate
};

// Reads the requests of kubelets, oldest first. Skips requests that cannot be read.
std::vector<RequestFacts> read_requests(const std::vector<Json>& requests, bool certificates_have_ids);

// Updates the records.
//
//   machines  null: the table is unknown, so no row counts as removed. A row with role removed counts as none: what joins under
//             this name afterwards is another machine
NodeRecords learn(NodeRecords records, const std::vector<RequestFacts>& requests, const std::vector<Json>& nodes,
                  const kube::MachineTable* machines);

// The keys of approved requests, by name. Requests of earlier machines of a name are left out.
using Approvals = std::map<std::string, std::vector<std::string>, std::less<>>;
Approvals approvals_of(const std::vector<RequestFacts>& requests, const NodeRecords& records);

// The rows to add to the table: names that got a client certificate with a credential for joining and never had a row. The role
// is that of the credential.
kube::MachineTable rows_to_add(const std::vector<RequestFacts>& requests, const NodeRecords& records,
                               const kube::MachineTable& machines);

// Reads the ConfigMap. Adds a message to `unreadable` for each key without a valid record, which is left out.
NodeRecords parse_records(const Json& config_map, std::vector<std::string>& unreadable);
Json with_records(Json config_map, const NodeRecords& records);
Json new_records_map();

// Records of clusters that store the keys of nodes in annotations of the Nodes (slipway.internal/kubelet-keys). Use them only
// once, if there is no ConfigMap: a node can write its own annotations.
NodeRecords records_of_annotations(const std::vector<Json>& nodes);

}  // namespace slipway::components::machine_approver
