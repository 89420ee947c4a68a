// Removing a cluster, or its bootstrap machine alone.
#pragma once

#include "cluster/create.h"

namespace slipway::cluster {

// Ends and removes all machines of the cluster. Fine when there are none.
Result<> destroy_local_cluster(const Environment& environment, const LocalGround& ground, const std::string& cluster);

// Removes the bootstrap machine. Fine when it is gone. errors: not_found: no such cluster
Result<> destroy_local_bootstrap(const Environment& environment, const LocalGround& ground, const std::string& cluster);

}  // namespace slipway::cluster
