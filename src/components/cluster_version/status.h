// The status of ClusterVersion: the progress of applying the release.
#pragma once

#include "base/json.h"
#include "base/time.h"
#include "components/cluster_version/graph.h"
#include "components/cluster_version/update.h"

#include <optional>
#include <string>

namespace slipway::components::cluster_version {

// Why the operator fails.
struct ReleaseFailure {
  std::string reason;  // "ManifestsNotApplied"
  std::string message;
};

// The progress of the operator.
struct ReleaseProgress {
  std::string version;
  std::string image;
  std::string hash;                         // hash of the manifests that are applied
  std::size_t total = 0;                    // number of manifests
  std::size_t done = 0;                     // number of applied manifests
  std::string waiting{};                    // unmet gates: "ClusterOperator etcd: not Available"; empty: all are met
  std::optional<ReleaseFailure> failure{};  // an error, or a gate that is overdue
  bool is_complete = false;                 // all manifests are applied and all gates are met
  Acceptance acceptance{};                  // what becomes of spec.desiredUpdate; without status: not known yet
  HandOver hand_over{};                     // how this release was accepted
  std::optional<NotUpgradeable> not_upgradeable{};
  KnownUpdates updates{};
};

// The next status. Fields of other writers stay. Pure.
//
//   desired     the version of the release
//   history     newest first, at most 100 entries
//   conditions  Available, Progressing, Failing, ReleaseAccepted, RetrievedUpdates, Upgradeable (only while it is False); times
//   change only with the status
Json next_status(const Json& cluster_version, const ReleaseProgress& progress, WallTime now);

}  // namespace slipway::components::cluster_version
