// Pseudo-random numbers that depend only on a seed, for values that must be the same in every run.
#pragma once

#include "base/secret.h"
#include "sys/random.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway::net {

// A seed for one purpose. It does not reveal the original seed or other derived seeds.
Secret derive_seed(const Secret& seed, std::string_view name);

// The stream of a seed and a name: HMAC-SHA256 of a counter, keyed with the derived seed. The seed reveals the whole stream.
// Threads: one at a time. Give each generated value its own stream, so that their order does not matter.
class SeededStream final : public sys::Random {
 public:
  SeededStream(const Secret& seed, std::string_view name) : key_(derive_seed(seed, name)) {}

  Result<std::string> bytes(std::size_t count) override;  // no errors

 private:
  Secret key_;
  std::uint64_t blocks_ = 0;
  std::string left_;  // unused bytes of the last block
};

}  // namespace slipway::net
