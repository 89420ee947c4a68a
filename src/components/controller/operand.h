// Operand: what a static-pod operator keeps running on the control plane's nodes, as a table. The operator and the installer on
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

// An object that ends up as files on the node: KIND/NAME/KEY.
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
  std::string name;               // "kube-apiserver": of the ClusterOperator, prefix of folders and of the pod's file
  kube::ResourceType settings;    // whose object `cluster` holds spec and nodeStatuses
  std::string operator_space;     // "openshift-kube-apiserver-operator"
  std::string space;              // "openshift-kube-apiserver": of the pods and of the parts
  std::string pod;                // of the static pod: "kube-apiserver", "openshift-kube-scheduler"; its mirror is POD-NODE
  std::vector<Part> revisioned;   // each becomes NAME-N; the first is the ConfigMap NAME-pod with the key pod.yaml
  std::vector<Part> unversioned;  // kept up to date on the nodes as they change: certificates and their bundles

  std::string pod_config() const { return name + "-pod"; }
};

// Names of folders below static_pod_resources: "kube-apiserver-pod-3" with configmaps/, secrets/ and the pod;
// "kube-apiserver-certs" likewise.
inline constexpr std::string_view static_pod_resources = "/etc/kubernetes/static-pod-resources";
inline constexpr std::string_view static_pod_manifests = "/etc/kubernetes/manifests";
std::string revision_folder(const Operand& operand, int revision);
std::string certificate_folder(const Operand& operand);

// revision-status-N: a ConfigMap in the operand's namespace that is there once every copy of revision N is. It says what the
// revision consists of, so that the installer needs no table of parts.
struct Revision {
  int number = 0;
  std::string reason;             // "ConfigMap config changed"
  std::vector<Part> revisioned;   // names without -N; only what there was
  std::vector<Part> unversioned;  // of the operand, optional ones too
  std::string forced{};           // spec.forceRedeploymentReason when it was made

  bool operator==(const Revision&) const = default;
};
inline constexpr std::string_view revision_prefix = "revision-status-";
Json revision_object(const Operand& operand, const Revision& revision);
// errors: invalid: no such object
Result<Revision> parse_revision(const Json& object);

// One entry of status.nodeStatuses. The CRD of OpenShift allows a target in one entry at a time, new entries only without
// revisions, and a current revision only to grow. wanted_revision has the revision that a node shall have in spite of that.
struct NodeStatus {
  std::string node;
  int current = 0;  // revision whose pod was ready last; 0: none yet
  int target = 0;   // revision that shall be there instead; 0: no other
  int last_failed = 0;
  int last_failed_count = 0;
  std::string last_failed_reason{};  // "InstallerFailed", "PodNotReady"
  std::vector<std::string> last_failed_errors{};
  std::string last_failed_time{};  // RFC 3339

  bool operator==(const NodeStatus&) const = default;
};
std::vector<NodeStatus> parse_node_statuses(const Json& settings);
// The settings with these as status.nodeStatuses; members that we do not know stay.
Json with_node_statuses(Json settings, const std::vector<NodeStatus>& statuses);

// The revision that the installer shall put on a node: its target, else its current one, else status.latestAvailableRevision, so
// that the first revision goes to all nodes at once. 0: none yet
int wanted_revision(const Json& settings, std::string_view node);

}  // namespace slipway::components
