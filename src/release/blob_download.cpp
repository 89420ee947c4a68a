#include "release/blob_download.h"

#include "base/number.h"

#include <algorithm>
#include <utility>

namespace slipway::release {

void BlobDownload::prepare(net::Request& request) {
  if (check_.taken() > 0) request.headers.push_back({"Range", fmt::format("bytes={}-", check_.taken())});
  request.check_head = [this](const net::Answer& head) { return check_head(head); };
}

Result<> BlobDownload::take(std::string_view piece) {
  const std::size_t known = std::min<std::uint64_t>(skip_, piece.size());
  skip_ -= known;
  piece.remove_prefix(known);
  if (piece.empty()) return Ok{};
  Result<> taken = check_.take(piece);
  if (taken.ok()) taken = sink_(piece);
  has_failed_ = has_failed_ || !taken.ok();
  return taken;
}

Result<> BlobDownload::finish() {
  has_failed_ = true;
  return check_.finish();
}

Result<> BlobDownload::check_head(const net::Answer& head) {
  skip_ = taken();
  std::uint64_t expected = blob().size;
  if (head.status == 206) {
    if (!head.header("Content-Range").value_or("").starts_with(fmt::format("bytes {}-", taken()))) {
      return error(Code::invalid, "blob {}: the server sent another range than requested", blob().digest.text());
    }
    expected -= std::exchange(skip_, 0);
  }
  const std::uint64_t coming = parse_number<std::uint64_t>(head.header("Content-Length").value_or("")).value_or(expected);
  if (coming == expected) return Ok{};
  return error(Code::invalid, "the server has {} bytes of blob {}, expected {}", coming, blob().digest.text(), expected);
}

}  // namespace slipway::release
