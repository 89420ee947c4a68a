// The clusters of a vCenter, found by the marks of slipway alone.
#pragma once

#include "provider/provider.h"
#include "provider/vsphere/client.h"

#include <vector>

namespace slipway::provider::vsphere {

// Sorted by infraID. errors: those of Vcenter
Result<std::vector<OwnedCluster>> owned_clusters(const sys::Context& context, Vcenter& vcenter);

}  // namespace slipway::provider::vsphere
