#include "release/blob_check.h"

namespace slipway::release {

Result<> BlobCheck::take(std::string_view piece) {
  if (piece.size() > blob_.size - taken_) {
    return error(Code::invalid, "blob {} is longer than the {} bytes it should have", blob_.digest.text(), blob_.size);
  }
  taken_ += piece.size();
  hash_.update(piece);
  return Ok{};
}

Result<> BlobCheck::finish() {
  if (taken_ != blob_.size) {
    return error(Code::invalid, "blob {} has {} bytes, {} are needed", blob_.digest.text(), taken_, blob_.size);
  }
  const std::string hex = hash_.finish_hex();
  if (hex != blob_.digest.hex()) {
    return error(Code::invalid, "what should be blob {} has the digest sha256:{}", blob_.digest.text(), hex);
  }
  return Ok{};
}

}  // namespace slipway::release
