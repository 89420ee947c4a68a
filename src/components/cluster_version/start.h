// `cluster-version-operator start`: keeps the manifests of the release applied, and reports its progress in ClusterVersion.
//
// It applies the manifests of its own image (keeper.h); it fetches no updates.
#pragma once

#include "components/program/program.h"

namespace slipway::components::cluster_version {

// Runs until it is stopped, one process at a time by the lease openshift-cluster-version/version.
//
// Reads: ClusterVersion version, FeatureGate and Infrastructure cluster. Writes: everything the release holds, the status of
// ClusterVersion. When: keeper.h. Gives the lease back when it is told to stop, so that the next one goes on at once.
//
//   errors  invalid: the image is no release, flags; unavailable: the lease was lost; cancelled
Result<> run_start(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_version
