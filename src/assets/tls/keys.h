// Many keys at once.
#pragma once

#include "assets/assets.h"

#include <string_view>
#include <vector>

namespace slipway::assets {

// One key for each name, in their order; the names tell apart what a seed gives.
//
//   errors  internal
//   time    RSA: as many at once as there are cores, 50 to 200 ms each; blocks until all are there
Result<std::vector<Secret>> make_keys(net::KeyType type, const std::vector<std::string_view>& names, const Randomness& random);

}  // namespace slipway::assets
