// Generates keys on all cores.
#pragma once

#include "assets/assets.h"

#include <string_view>
#include <vector>

namespace slipway::assets {

// One key for each name, in the same order. With a seed, the key follows from the seed and the name.
//
//   errors  internal
//   time    RSA: 50 to 200 ms for each key, one key at a time on each core; blocks until all keys are generated
Result<std::vector<Secret>> make_keys(net::KeyType type, const std::vector<std::string_view>& names, const Randomness& random);

}  // namespace slipway::assets
