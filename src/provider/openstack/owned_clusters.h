// The clusters that slipway created in a project, by their marks.
#pragma once

#include "provider/openstack/api.h"
#include "provider/provider.h"

#include <vector>

namespace slipway::provider::openstack {

// Sorted by infraID.
Result<std::vector<OwnedCluster>> owned_clusters(const sys::Context& context, Api& api);

}  // namespace slipway::provider::openstack
