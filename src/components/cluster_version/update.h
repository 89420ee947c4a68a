// Updates to another release: what spec.desiredUpdate of ClusterVersion asks for, and what the operator of the running release
// does until the operator of the other release takes over. Pure.
//
//   desiredUpdate ─► a pod of its image reads the payload ─► preconditions ─► the operator's own Deployment gets the image
//
// The pod runs `payload` (payload.h). The operator of the other release then applies everything, run level by run level.
#pragma once

#include "base/json.h"
#include "components/cluster_version/gates.h"
#include "components/cluster_version/payload.h"
#include "components/controller/view.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::cluster_version {

inline constexpr std::string_view own_namespace = "openshift-cluster-version";
inline constexpr std::string_view own_deployment = "cluster-version-operator";
inline constexpr std::string_view payload_pods = "k8s-app=retrieve-openshift-release";  // label of the pods that read payloads

struct OwnRelease {
  std::string version;
  std::string image;
  std::string node;  // where the operator runs
};

// The condition ReleaseAccepted.
struct Acceptance {
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;

  bool operator==(const Acceptance&) const = default;
};

struct UpdateStep {
  Acceptance acceptance;
  std::optional<Json> create_pod{};           // a pod that reads the payload
  std::vector<std::string> remove_pods{};     // names of pods of other requests
  std::optional<std::string> hand_over_to{};  // image for the operator's own Deployment

  bool operator==(const UpdateStep&) const = default;
};

// The next step. `seen` has the pods with label payload_pods, ClusterOperators and ClusterVersion.
//
//   nodes  all Nodes; only read when the payload is known
UpdateStep next_update_step(const Json& cluster_version, const OwnRelease& own, Mode mode, const Snapshot& seen,
                            const std::vector<const Json*>& nodes);

// Why clusters of this release must not get another minor version: ClusterOperators with Upgradeable=False. Empty: they may.
struct NotUpgradeable {
  std::string reason;
  std::string message;
};
std::optional<NotUpgradeable> find_not_upgradeable(const Snapshot& seen);

// Reasons against an update to the payload, each as a sentence with its name. Empty: there is none.
//
// - a version that is older than the running one, unless the cluster had it before and it has the same minor version
// - another major version, or more than one minor version ahead
// - another minor version while a ClusterOperator is not Upgradeable
// - kubelets that the API server of the payload does not support: newer than it, or more than three minor versions older
std::vector<std::string> failed_preconditions(const Json& cluster_version, const OwnRelease& own, const Payload& payload,
                                              const Snapshot& seen, const std::vector<const Json*>& nodes);

// The Deployment of the operator with the image of another release. errors: invalid: it has no container with a release image
Result<Json> with_release_image(Json deployment, std::string_view image);

}  // namespace slipway::components::cluster_version
