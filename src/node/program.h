// What every command of slipway-node is given.
#pragma once

#include "base/result.h"
#include "net/environment.h"

#include <string>
#include <vector>

namespace slipway::node {

using Arguments = std::vector<std::string>;

using Environment = net::Environment;

// Waits without an end of their own: what they wait for may take a person to bring, and the journal says what it is.
inline constexpr Milliseconds no_limit = std::chrono::hours(24 * 365);

}  // namespace slipway::node
