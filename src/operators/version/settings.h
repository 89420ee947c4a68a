// What the cluster-version operator is told by its environment (operators 2.9, 4.7).
#pragma once

#include <string>

namespace slipway::operators {

std::string cluster_profile();     // CLUSTER_PROFILE, self-managed-high-availability when not set
std::string excluded_manifests();  // EXCLUDE_MANIFESTS

}  // namespace slipway::operators
