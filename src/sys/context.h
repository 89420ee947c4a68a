// Context: what every function with side effects takes: the clock, the log, the events and the stop token.
#pragma once

#include "base/log.h"
#include "sys/clock.h"
#include "sys/events.h"

#include <stop_token>

namespace slipway::sys {

// Cheap to copy; refers to objects that live as long as the program. A part of the work that can be stopped separately gets a
// copy with its own stop token.
struct Context {
  Clock& clock;
  Log& log;
  Events& events;
  std::stop_token stop{};

  Context with_stop(std::stop_token token) const { return {clock, log, events, std::move(token)}; }
};

}  // namespace slipway::sys
