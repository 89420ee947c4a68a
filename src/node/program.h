// The environment of every command of slipway-node.
#pragma once

#include "base/result.h"
#include "net/environment.h"

#include <string>
#include <vector>

namespace slipway::node {

using Arguments = std::vector<std::string>;

using Environment = net::Environment;

// For waits without a limit: a person may have to act, and the journal shows what the command waits for.
inline constexpr Milliseconds no_limit = std::chrono::hours(24 * 365);

}  // namespace slipway::node
