// FakeClock: a clock that advances only when a thread waits, so that twenty minutes of retries take no time.
#pragma once

#include "base/guarded.h"
#include "sys/clock.h"

#include <algorithm>

namespace slipway::testing_support {

// Starts at 2026-11-21T09:30:00Z. Only one thread should wait; other threads may work. Threads: any.
class FakeClock final : public sys::Clock {
 public:
  WallTime now() override { return WallTime(Milliseconds(1'795'253'400'000)) + elapsed(); }
  SteadyTime steady() override { return SteadyTime(elapsed()); }
  void wait(SteadyTime until, std::stop_token stop, sys::Wakeup* wakeup, std::uint64_t seen) override {
    if (stop.stop_requested() || (wakeup && wakeup->count() != seen)) return;
    elapsed_.with_lock([&](Milliseconds& elapsed) { elapsed = std::max(elapsed, until.time_since_epoch()); });
  }

  Milliseconds elapsed() const {
    return elapsed_.with_lock([](const Milliseconds& elapsed) { return elapsed; });
  }

 private:
  Guarded<Milliseconds> elapsed_{Milliseconds(0)};
};

}  // namespace slipway::testing_support
