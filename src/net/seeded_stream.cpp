#include "net/seeded_stream.h"

#include "net/hmac.h"

namespace slipway::net {

namespace {

constexpr std::string_view purpose = "slipway seed 1\n";  // a change gives existing seeds other clusters

}

Secret derive_seed(const Secret& seed, std::string_view name) {
  return Secret(hmac_sha256(seed.reveal(), fmt::format("{}{}", purpose, name)));
}

Result<std::string> SeededStream::bytes(std::size_t count) {
  while (left_.size() < count) left_ += hmac_sha256(key_.reveal(), fmt::format("{}", blocks_++));
  std::string bytes = left_.substr(0, count);
  left_.erase(0, count);
  return bytes;
}

}  // namespace slipway::net
