#include "sys/clock.h"

namespace slipway::sys {

void Wakeup::notify() {
  {
    std::lock_guard lock(mutex_);
    ++count_;
  }
  changed_.notify_all();
}

std::uint64_t Wakeup::count() const {
  std::lock_guard lock(mutex_);
  return count_;
}

WallTime RealClock::now() { return std::chrono::floor<Milliseconds>(std::chrono::system_clock::now()); }

SteadyTime RealClock::steady() { return std::chrono::floor<Milliseconds>(std::chrono::steady_clock::now()); }

void RealClock::wait(SteadyTime until, std::stop_token stop, Wakeup* wakeup, std::uint64_t seen) {
  Wakeup unused;
  Wakeup& source = wakeup ? *wakeup : unused;
  if (!wakeup) seen = 0;
  std::unique_lock lock(source.mutex_);
  source.changed_.wait_until(lock, std::move(stop), until, [&] { return source.count_ != seen; });
}

}  // namespace slipway::sys
