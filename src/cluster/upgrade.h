// slipway upgrade: requests an update of a running cluster and waits for it. The cluster-version operator does the work.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "kube/client.h"
#include "release/digest.h"
#include "sys/context.h"

#include <string>
#include <vector>

namespace slipway::cluster {

struct UpgradeRequest {
  std::string to;                 // IMAGE by digest, or VERSION
  bool is_forced = false;         // the operator skips preconditions
  bool ignores_warnings = false;  // of upgrade_warnings
  bool takes_not_recommended = false;
};

struct UpgradeTarget {
  std::string image;
  std::string version{};  // empty: only the image is known

  const std::string& name() const { return version.empty() ? image : version; }
  bool operator==(const UpgradeTarget&) const = default;
};

// Why an update should not be requested now: conditions Invalid, Failing and Progressing, one line each. Pure.
std::vector<std::string> upgrade_warnings(const Json& cluster_version);

// The release that a request names. Pure.
//
//   errors  not_found: the version is not one of the available updates, which the message lists; conflict: the update is not
//           recommended, or upgrade_warnings has a line that the request does not ignore; invalid: an image without a digest
Result<UpgradeTarget> choose_target(const Json& cluster_version, const UpgradeRequest& request);

// The merge patch of the ClusterVersion that requests a release. Pure.
Json desired_update_patch(const UpgradeTarget& target, bool is_forced);

Result<Json> read_cluster_version(const sys::Context& context, kube::Api& api);

// An update that was requested, for wait_for_upgrade.
struct PendingUpgrade {
  UpgradeTarget target;
  int generation = 0;     // of the ClusterVersion that requests it
  std::string verdict{};  // ReleaseAccepted of an earlier request; must not be taken for the answer to this one
};

// Writes spec.desiredUpdate, without a check. errors: those of merge_patch
Result<PendingUpgrade> request_upgrade(const sys::Context& context, kube::Api& api, const UpgradeTarget& target, bool is_forced);

// The update that was requested last; without spec.desiredUpdate, the release that the cluster works towards. Pure.
PendingUpgrade pending_upgrade(const Json& cluster_version);

// Stores signatures of a release (release/signature.h) where the cluster-version operator looks first, so that it needs no
// registry to verify the release. Without any, nothing is written.
Result<> store_signatures(const sys::Context& context, kube::Api& api, const release::Digest& digest,
                          const std::vector<std::string>& envelopes);

// Removes spec.desiredUpdate. Returns the line to print.
Result<std::string> clear_upgrade(const sys::Context& context, kube::Api& api);

// How far an update is.
struct UpgradeView {
  enum class State {
    waits,
    is_in_trouble,  // may end by itself
    failed,
    done,
  };
  State state;
  std::string message;

  bool operator==(const UpgradeView&) const = default;
};

// From the ClusterVersion: done when the first entry of its history is Completed for the image. Pure.
UpgradeView view_upgrade(const Json& cluster_version, const PendingUpgrade& pending);

// From the MachineConfigPools: done when all are Updated. Does not wait for paused pools. Pure.
UpgradeView view_pools(const std::vector<Json>& pools);

// Waits until the update is Completed and all pools are Updated. Logs a line whenever the progress changes. A stop leaves the
// update running.
//
//   errors  invalid: the release was not accepted, or another one was requested meanwhile; timeout: Failing, a Degraded pool or
//           a registry that does not give the release did not end within 10 min, or the update takes longer than a day;
//           cancelled; those of wait_until
Result<> wait_for_upgrade(const sys::Context& context, kube::Api& api, const PendingUpgrade& pending);

}  // namespace slipway::cluster
