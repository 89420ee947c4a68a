// Context: what every acting function is given: the time, whether it shall stop, where to tell what happens.
#pragma once

#include "base/log.h"
#include "sys/clock.h"
#include "sys/events.h"

#include <stop_token>

namespace slipway::sys {

// Cheap to copy; refers to objects that live as long as the program. A part of the work that may be stopped alone gets a
// copy with a stop token of its own.
struct Context {
  Clock& clock;
  Log& log;
  Events& events;
  std::stop_token stop{};

  Context with_stop(std::stop_token token) const { return {clock, log, events, std::move(token)}; }
};

}  // namespace slipway::sys
