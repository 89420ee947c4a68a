// The providers of this program, by platform.
#pragma once

#include "net/environment.h"
#include "provider/provider.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace slipway::provider {

// Which cluster, and options of the command line by name without dashes ("state"): each provider reads its own.
struct ClusterSelection {
  std::string cluster;
  std::map<std::string, std::string, std::less<>> options{};
};

// Whether this program creates machines of the platform.
bool has_provider(std::string_view platform);

// errors: invalid: this program has no provider for the platform; what the provider says of its options
Result<std::unique_ptr<Provider>> open_provider(const net::Environment& environment, std::string_view platform,
                                                ClusterSelection selection);

}  // namespace slipway::provider
