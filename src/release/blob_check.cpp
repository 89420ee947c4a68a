#include "release/blob_check.h"

namespace slipway::release {

Result<> BlobCheck::take(std::string_view piece) {
  if (piece.size() > blob_.size - taken_) {
    return error(Code::invalid, "blob {} has more than the expected {} bytes", blob_.digest.text(), blob_.size);
  }
  taken_ += piece.size();
  hash_.update(piece);
  return Ok{};
}

Result<> BlobCheck::finish() {
  if (taken_ != blob_.size) {
    return error(Code::invalid, "blob {} has {} bytes, expected {}", blob_.digest.text(), taken_, blob_.size);
  }
  const std::string hex = hash_.finish_hex();
  if (hex != blob_.digest.hex()) {
    return error(Code::invalid, "blob {}: digest mismatch, the content has sha256:{}", blob_.digest.text(), hex);
  }
  return Ok{};
}

}  // namespace slipway::release
