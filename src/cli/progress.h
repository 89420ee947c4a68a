// Progress for users, from the event stream.
#pragma once

#include "sys/clock.h"
#include "sys/events.h"

#include <functional>
#include <optional>
#include <string>

namespace slipway::cli {

// The line for an event; nothing for events that are only for programs. Pure.
std::optional<std::string> describe(const sys::Event& event);

// Whether an event starts a wait with a time limit: it is printed everywhere, so that the user knows how long the wait may take.
bool is_announced(const sys::Event& event);

// Whether a line stays on a terminal, or is replaced by the next one.
bool is_lasting(const sys::Event& event);

// A sink that writes to standard error. On a terminal, progress is redrawn in place; elsewhere only lasting lines are written.
// Threads: as for sinks, one at a time.
sys::Events::Sink progress_sink(bool terminal, std::function<void(std::string_view)> write);

}  // namespace slipway::cli
