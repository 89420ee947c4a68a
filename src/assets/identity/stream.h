// Stream: the numbers of one thing that is drawn.
//
//   Stream stream(randomness, "cluster id");
//   const std::string tail = TRY(sys::random_text(stream, 5, alphabet));
//
// With a seed each name has numbers of its own, so that neither the order in which things are drawn matters nor the thread that
// draws them.
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

  // For those who have a better source of their own when there is no seed: null then.
  sys::Random* if_seeded() { return seeded_ ? this : nullptr; }

 private:
  sys::Random* source_;
  std::optional<net::SeededStream> seeded_;
};

}  // namespace slipway::assets
