// The providers of slipway, by platform.
#pragma once

#include "net/environment.h"
#include "provider/provider.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider {

// Whether slipway creates machines on the platform.
bool has_provider(std::string_view platform);

// The platforms whose providers plan resources (Capabilities::plans_resources), sorted.
std::vector<std::string> planned_platforms();

// errors: invalid: slipway has no provider for the platform; those of the provider for its options
Result<std::unique_ptr<Provider>> open_provider(const net::Environment& environment, std::string_view platform,
                                                ClusterSelection selection);

}  // namespace slipway::provider
