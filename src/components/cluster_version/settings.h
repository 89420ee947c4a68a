// Environment variables of the cluster-version operator.
#pragma once

#include <string>

namespace slipway::components::cluster_version {

std::string cluster_profile();     // CLUSTER_PROFILE; default: self-managed-high-availability
std::string excluded_manifests();  // EXCLUDE_MANIFESTS

}  // namespace slipway::components::cluster_version
