// Numbers that follow from a seed alone, for what shall be the same in every run.
#pragma once

#include "base/secret.h"
#include "sys/random.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway::net {

// A seed of its own for something: from it neither the first seed nor any other can be found.
Secret derive_seed(const Secret& seed, std::string_view name);

// The stream of a seed and a name: HMAC-SHA256 of a counter, with the derived seed as its key. Who knows the seed knows it all.
// Threads: one at a time; each thing that is drawn has a stream of its own, so that their order does not matter.
class SeededStream final : public sys::Random {
 public:
  SeededStream(const Secret& seed, std::string_view name) : key_(derive_seed(seed, name)) {}

  Result<std::string> bytes(std::size_t count) override;  // no errors

 private:
  Secret key_;
  std::uint64_t blocks_ = 0;
  std::string left_;  // of the last block
};

}  // namespace slipway::net
