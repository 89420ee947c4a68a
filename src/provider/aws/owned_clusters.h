// The clusters of an account, found by the marks of slipway alone.
#pragma once

#include "provider/aws/api.h"
#include "provider/provider.h"

#include <vector>

namespace slipway::provider::aws {

// errors: those of Api
Result<std::vector<OwnedCluster>> owned_clusters(const sys::Context& context, Api& api);

}  // namespace slipway::provider::aws
