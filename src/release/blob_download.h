// BlobDownload: the download of a blob from registries to a sink, in one or several answers.
#pragma once

#include "base/result.h"
#include "net/http.h"
#include "release/blob_check.h"
#include "release/manifest.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace slipway::release {

// The sink must outlive the download. Threads: one at a time.
class BlobDownload {
 public:
  // had: has taken the bytes that the sink has
  BlobDownload(BlobCheck had, const net::Sink& sink) : check_(std::move(had)), sink_(sink) {}

  // Requests only the missing bytes and checks the head of the answer. If the server ignores the range, the bytes that the sink
  // already has are skipped. The request must not outlive the download.
  void prepare(net::Request& request);

  // Takes a piece of an answer. errors: those of the sink; invalid: more bytes than the blob has
  Result<> take(std::string_view piece);

  // Call once, after the last byte. errors: invalid: fewer bytes or another digest
  Result<> finish();

  const Descriptor& blob() const { return check_.blob(); }
  std::uint64_t taken() const { return check_.taken(); }
  bool is_complete() const { return check_.is_complete(); }
  bool has_failed() const { return has_failed_; }  // a retry cannot help: the sink failed or received wrong bytes

 private:
  Result<> check_head(const net::Answer& head);

  BlobCheck check_;
  const net::Sink& sink_;
  std::uint64_t skip_ = 0;  // bytes at the start of the answer that the sink already has
  bool has_failed_ = false;
};

}  // namespace slipway::release
