// Stream: the random numbers of one generated value.
//
//   Stream stream(randomness, "cluster id");
//   const std::string tail = TRY(sys::random_text(stream, 5, alphabet));
//
// With a seed, each name has its own sequence of numbers. So a value depends neither on the order in which values are generated
// nor on the thread that generates it.
#pragma once

#include "assets/assets.h"
#include "net/seeded_stream.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::assets {

class Stream final : public sys::Random {
 public:
  Stream(const Randomness& random, std::string_view name) : source_(random.source) {
    if (random.seed) seeded_.emplace(*random.seed, name);
  }

  Result<std::string> bytes(std::size_t count) override { return seeded_ ? seeded_->bytes(count) : source_->bytes(count); }

  // This stream, or null without a seed. For functions that use their own random source without a seed.
  sys::Random* if_seeded() { return seeded_ ? this : nullptr; }

 private:
  sys::Random* source_;
  std::optional<net::SeededStream> seeded_;
};

}  // namespace slipway::assets
