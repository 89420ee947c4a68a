// The status of ClusterVersion: how far the release is applied.
#pragma once

#include "base/json.h"
#include "base/time.h"

#include <optional>
#include <string>

namespace slipway::components::cluster_version {

// Why the operator cannot do its work.
struct ReleaseFailure {
  std::string reason;  // "ManifestsNotApplied"
  std::string message;
};

// What the operator knows of its work.
struct ReleaseProgress {
  std::string version;
  std::string image;
  std::string hash;                         // of the manifests as they are applied
  std::size_t total = 0;                    // manifests
  std::size_t done = 0;                     // of them
  std::string waiting{};                    // for whom: "ClusterOperator etcd: not Available"; empty when for nobody
  std::optional<ReleaseFailure> failure{};  // also when nothing but patience is at its end
  bool is_complete = false;                 // all are applied and nobody is waited for
};

// The next status: desired version, history (newest first, 100 entries at most), conditions Available, Progressing, Failing,
// ReleaseAccepted (false while spec.desiredUpdate asks for another release) and RetrievedUpdates (false: spec.channel and
// spec.upstream have no effect), whose times change with their status only. What others keep in the status stays. Pure.
Json next_status(const Json& cluster_version, const ReleaseProgress& progress, WallTime now);

}  // namespace slipway::components::cluster_version
