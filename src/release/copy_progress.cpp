#include "release/copy_progress.h"

namespace slipway::release {

namespace {

constexpr std::uint64_t most_events = 100;

}  // namespace

void CopyProgress::add(std::uint64_t bytes) {
  const std::uint64_t now = done_.with_lock([&](Done& done) -> std::uint64_t {
    done.bytes += bytes;
    if (done.bytes < done.reported + total_ / most_events && done.bytes < total_) return 0;
    return done.reported = done.bytes;
  });
  if (now == 0) return;
  events_.emit({.kind = kind_, .name = name_, .phase = sys::Phase::progress, .fields = {{"bytes", now}, {"total", total_}}});
}

}  // namespace slipway::release
