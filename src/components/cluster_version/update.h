// Updates to another release: what spec.desiredUpdate of ClusterVersion asks for, and what the operator of the running release
// does until the operator of the other release takes over. Pure.
//
//   desiredUpdate ─► signature ─► a pod of its image reads the payload ─► preconditions ─► the own Deployment gets the image
//
// The signature comes first, so that no program of an unsigned image runs. The pod runs `payload` (payload.h). The
// operator of the other release then applies everything, run level by run level.
#pragma once

#include "base/json.h"
#include "base/time.h"
#include "components/cluster_version/gates.h"
#include "components/cluster_version/payload.h"
#include "components/cluster_version/verification.h"
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
  std::string node;                         // where the operator runs
  std::vector<release::TrustedKey> keys{};  // trusted_keys of the release
};

// What cannot be watched.
struct UpdateFacts {
  std::vector<const Json*> nodes{};  // all Nodes; only read when the payload is known
  FoundSignatures signatures{};
  WallTime now{};
};

// How a release was accepted. The operator that hands over writes it into its Deployment, and the next one into the history.
struct HandOver {
  std::string image{};
  bool is_verified = false;      // a trusted key has signed the release
  std::string accepted_risks{};  // failed checks that spec.desiredUpdate.force skipped

  bool operator==(const HandOver&) const = default;
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
  std::optional<Json> create_pod{};        // a pod that reads the payload
  std::vector<std::string> remove_pods{};  // names of pods of other requests
  std::optional<HandOver> hand_over{};     // for the operator's own Deployment

  bool operator==(const UpdateStep&) const = default;
};

// The next step. `seen` has the pods with label payload_pods, ClusterOperators, and ConfigMaps with signatures and about backups.
UpdateStep next_update_step(const Json& cluster_version, const OwnRelease& own, Mode mode, const Snapshot& seen,
                            const UpdateFacts& facts);

// The image whose signatures decide about the request. Empty: none is requested, it is the own one, or it has no digest.
std::string image_to_verify(const Json& cluster_version, const OwnRelease& own);

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
// - another minor version without a backup of etcd in the last 24 hours (`slipway backup` records it: backup_namespace)
// - kubelets that the API server of the payload does not support: newer than it, or more than three minor versions older
std::vector<std::string> failed_preconditions(const Json& cluster_version, const OwnRelease& own, const Payload& payload,
                                              const Snapshot& seen, const UpdateFacts& facts);

// The ConfigMap in which `slipway backup` records the last backup of etcd: data.completed, RFC 3339.
inline constexpr std::string_view backup_namespace = "openshift-etcd";
inline constexpr std::string_view backup_record = "recent-backup";

// The Deployment of the operator with another release. errors: invalid: it has no container with a release image
Result<Json> with_release(Json deployment, const HandOver& hand_over);

// What with_release has written for this image; a release that was not handed over is not verified.
HandOver hand_over_of(const Snapshot& seen, const std::string& image);

}  // namespace slipway::components::cluster_version
