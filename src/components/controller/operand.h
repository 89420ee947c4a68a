// Operand: the static pod that an operator runs on the nodes of the control plane, as a table. The operator and the installer on
// the nodes read the same table (docs/decisions/0008-one-installer-a-node.md).
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "kube/types.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

// An object that is written to files on the node: KIND/NAME/KEY.
struct Part {
  enum class Kind { config_map, secret };
  Kind kind;
  std::string name;
  bool is_optional = false;

  const kube::ResourceType& type() const;
  std::string_view folder() const;  // "configmaps", "secrets"
  bool operator==(const Part&) const = default;
};

struct Operand {
  std::string name;               // "kube-apiserver": the ClusterOperator, and the prefix of folders and of the pod's file
  kube::ResourceType settings;    // type of the object `cluster` with spec and nodeStatuses
  std::string operator_space;     // "openshift-kube-apiserver-operator"
  std::string space;              // "openshift-kube-apiserver": namespace of the pods and of the parts
  std::string pod;                // static pod: "kube-apiserver", "openshift-kube-scheduler"; mirror pod: POD-NODE
  std::vector<Part> revisioned;   // each is copied to NAME-N; the first is the ConfigMap NAME-pod with the key pod.yaml
  std::vector<Part> unversioned;  // updated on the nodes when they change: certificates and their bundles

  std::string pod_config() const { return name + "-pod"; }
};

// Folders below static_pod_resources: "kube-apiserver-pod-3" with configmaps/, secrets/ and the pod, and "kube-apiserver-certs"
// with configmaps/ and secrets/.
inline constexpr std::string_view static_pod_resources = "/etc/kubernetes/static-pod-resources";
inline constexpr std::string_view static_pod_manifests = "/etc/kubernetes/manifests";
std::string revision_folder(const Operand& operand, int revision);
std::string certificate_folder(const Operand& operand);

// revision-status-N: a ConfigMap in the operand's namespace, created after every copy of revision N. It lists the parts of the
// revision, so the installer needs no table of parts.
struct Revision {
  int number = 0;
  std::string reason;             // "ConfigMap config changed"
  std::vector<Part> revisioned;   // names without -N; only parts that existed
  std::vector<Part> unversioned;  // of the operand, optional parts too
  std::string forced{};           // spec.forceRedeploymentReason when the revision was created

  bool operator==(const Revision&) const = default;
};
inline constexpr std::string_view revision_prefix = "revision-status-";
Json revision_object(const Operand& operand, const Revision& revision);
// errors: invalid: the object is not a revision
Result<Revision> parse_revision(const Json& object);

// One entry of status.nodeStatuses. The CRD of OpenShift allows a target in one entry at a time, requires new entries without
// revisions, and lets a current revision only grow. Despite these rules, wanted_revision returns the revision that a node must
// have.
struct NodeStatus {
  std::string node;
  int current = 0;  // last revision whose pod was ready; 0: none yet
  int target = 0;   // revision that must replace it; 0: none
  int last_failed = 0;
  int last_failed_count = 0;
  std::string last_failed_reason{};  // "InstallerFailed", "PodNotReady"
  std::vector<std::string> last_failed_errors{};
  std::string last_failed_time{};  // RFC 3339

  bool operator==(const NodeStatus&) const = default;
};
std::vector<NodeStatus> parse_node_statuses(const Json& settings);
// The settings with these entries as status.nodeStatuses. Unknown members of an entry stay.
Json with_node_statuses(Json settings, const std::vector<NodeStatus>& statuses);

// The revision that the installer must put on a node: its target, else its current one, else status.latestAvailableRevision, so
// that all nodes get the first revision at the same time. 0: none yet
int wanted_revision(const Json& settings, std::string_view node);

}  // namespace slipway::components
