// BlobCheck: verifies the size and the digest of a blob while it is read.
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

  // errors: invalid: more bytes than the descriptor's size
  Result<> take(std::string_view piece);

  const Descriptor& blob() const { return blob_; }
  std::uint64_t taken() const { return taken_; }
  bool is_complete() const { return taken_ == blob_.size; }

  // Call once, after the last piece. errors: invalid: fewer bytes or another digest
  Result<> finish();

 private:
  const Descriptor blob_;
  Sha256 hash_;
  std::uint64_t taken_ = 0;
};

}  // namespace slipway::release
