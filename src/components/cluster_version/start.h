// `cluster-version-operator start`: applies and reconciles the manifests of its own image, and reports progress in ClusterVersion
// (reconciler.h).
#pragma once

#include "components/program/program.h"
#include "release/registry_client.h"

#include <functional>

namespace slipway::components::cluster_version {

// Runs until a stop is requested. The lease openshift-cluster-version/version ensures that only one process is active; it is
// released at a stop, so that the next process starts at once.
//
//   registry_access  how to reach registries, from files of the node; their logins are those of openshift-config/pull-secret
//   reads   ClusterVersion version, FeatureGate cluster, Infrastructure cluster, ConfigMaps with signatures, the pull secret
//   writes  all objects of the release, the status of ClusterVersion
//   errors  invalid: flags, or the image is not a release; unavailable: the lease was lost; cancelled
using RegistryAccess = std::function<Result<release::RegistryOptions>(const sys::Context& context, sys::Files& files)>;
Result<> run_start(const Environment& environment, const Arguments& arguments, const RegistryAccess& registry_access);

}  // namespace slipway::components::cluster_version
