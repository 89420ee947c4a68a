// The providers of slipway, by platform.
#pragma once

#include "net/environment.h"
#include "provider/provider.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace slipway::provider {

// The name of a cluster, and options of the command line by name without dashes ("state"). Each provider reads its own options.
struct ClusterSelection {
  std::string cluster;
  std::map<std::string, std::string, std::less<>> options{};
};

// Whether slipway creates machines on the platform.
bool has_provider(std::string_view platform);

// errors: invalid: slipway has no provider for the platform; those of the provider for its options
Result<std::unique_ptr<Provider>> open_provider(const net::Environment& environment, std::string_view platform,
                                                ClusterSelection selection);

}  // namespace slipway::provider
