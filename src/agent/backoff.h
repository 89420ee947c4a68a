// How long the agent pauses when the service does not answer.
#pragma once

#include "sys/wait_for.h"

namespace slipway::agent {

// It never gives up: a host whose service is away for an hour continues afterwards.
inline constexpr sys::Pace service_pace{Milliseconds(500), Milliseconds(60'000)};

// Doubles from service_pace.first to service_pace.longest with each failure. Threads: one at a time.
class Backoff {
 public:
  Milliseconds next() {
    const Milliseconds pause = next_;
    next_ = std::min(next_ * 2, service_pace.longest);
    return pause;
  }
  void reset() { next_ = service_pace.first; }

 private:
  Milliseconds next_ = service_pace.first;
};

}  // namespace slipway::agent
