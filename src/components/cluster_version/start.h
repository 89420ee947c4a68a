// `cluster-version-operator start`: applies and reconciles the manifests of its own image, and reports progress in ClusterVersion
// (reconciler.h).
#pragma once

#include "components/program/program.h"

namespace slipway::components::cluster_version {

// Runs until a stop is requested. The lease openshift-cluster-version/version ensures that only one process is active; it is
// released at a stop, so that the next process starts at once.
//
//   reads   ClusterVersion version, FeatureGate cluster, Infrastructure cluster
//   writes  all objects of the release, the status of ClusterVersion
//   errors  invalid: flags, or the image is not a release; unavailable: the lease was lost; cancelled
Result<> run_start(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_version
