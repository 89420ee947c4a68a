#include "assets/tls/keys.h"

#include "assets/identity/stream.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace slipway::assets {

Result<std::vector<Secret>> make_keys(net::KeyType type, const std::vector<std::string_view>& names, const Randomness& random) {
  std::vector<std::optional<Result<Secret>>> made(names.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < names.size(); i = next++) {
      Stream stream(random, fmt::format("key {}", names[i]));
      made[i] = net::make_key(type, stream.if_seeded());
    }
  };
  // ECDSA keys are generated faster than a thread starts.
  const std::size_t cores = type == net::KeyType::p256 ? 1 : std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(cores, names.size()); ++i) helpers.emplace_back(work);
    work();
  }
  std::vector<Secret> keys;
  for (std::optional<Result<Secret>>& key : made) keys.push_back(TRY(std::move(*key)));
  return keys;
}

}  // namespace slipway::assets
