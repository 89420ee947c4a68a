// Clock: the only source of the time and the only way to let time pass.
#pragma once

#include "base/time.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>

namespace slipway::sys {

// Ends a wait early. A thread that changes the awaited state calls notify(). A waiter that was busy during notify() does not
// miss it. Threads: any.
class Wakeup {
 public:
  void notify();

  // Number of notify() calls so far. Pass it to Clock::wait as `seen`.
  std::uint64_t count() const;

 private:
  friend class RealClock;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t count_ = 0;
};

// Threads: any. Tests use testing_support::FakeClock, whose time moves only during a wait.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual WallTime now() = 0;
  virtual SteadyTime steady() = 0;

  // Blocks until `until`, a stop request, or a notify() of `wakeup` after its count was `seen`. Does not say which of these
  // ended the wait. wakeup may be null.
  virtual void wait(SteadyTime until, std::stop_token stop, Wakeup* wakeup, std::uint64_t seen) = 0;
};

class RealClock final : public Clock {
 public:
  WallTime now() override;
  SteadyTime steady() override;
  void wait(SteadyTime until, std::stop_token stop, Wakeup* wakeup, std::uint64_t seen) override;
};

}  // namespace slipway::sys
