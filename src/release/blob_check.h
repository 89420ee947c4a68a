// BlobCheck: watches a blob pass by and says in the end whether it is the one that was asked for.
#pragma once

#include "base/digest.h"
#include "base/result.h"
#include "release/manifest.h"

#include <cstdint>
#include <string_view>

namespace slipway::release {

// Threads: one at a time.
class BlobCheck {
 public:
  explicit BlobCheck(const Descriptor& blob) : blob_(blob) {}

  // errors: invalid when there are more bytes than the descriptor says
  Result<> take(std::string_view piece);

  std::uint64_t taken() const { return taken_; }

  // Once, when all was taken. errors: invalid: fewer bytes, another digest
  Result<> finish();

 private:
  const Descriptor blob_;
  Sha256 hash_;
  std::uint64_t taken_ = 0;
};

}  // namespace slipway::release
