// Clock: the only place where slipway learns what time it is and lets time pass.
#pragma once

#include "base/time.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>

namespace slipway::sys {

// Wakes those who wait for something to happen before their time is up. Whoever changes what others wait for calls
// notify(); a waiter that was busy meanwhile does not miss it. Threads: any.
class Wakeup {
 public:
  void notify();

  // Number of notify() calls so far; what was seen of it is given to Clock::wait.
  std::uint64_t count() const;

 private:
  friend class RealClock;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t count_ = 0;
};

// Threads: any. Tests use testing_support::FakeClock, whose time moves only when somebody waits.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual WallTime now() = 0;
  virtual SteadyTime steady() = 0;

  // Returns when the time has come, when a stop is asked for, or when `wakeup` was notified more often than `seen`;
  // the caller looks which. wakeup may be null.
  virtual void wait(SteadyTime until, std::stop_token stop, Wakeup* wakeup, std::uint64_t seen) = 0;
};

class RealClock final : public Clock {
 public:
  WallTime now() override;
  SteadyTime steady() override;
  void wait(SteadyTime until, std::stop_token stop, Wakeup* wakeup, std::uint64_t seen) override;
};

}  // namespace slipway::sys
