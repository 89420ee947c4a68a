// Progress for people, drawn from the event stream.
#pragma once

#include "sys/clock.h"
#include "sys/events.h"

#include <functional>
#include <optional>
#include <string>

namespace slipway::cli {

// The line that tells an event to a person; nothing for events that are only for programs. Pure.
std::optional<std::string> describe(const sys::Event& event);

// Whether an event says for how long something is waited for: it is told everywhere, so that nobody wonders.
bool is_announced(const sys::Event& event);

// Whether the line stands for good or is replaced by the next one on a terminal.
bool is_lasting(const sys::Event& event);

// A sink that writes to standard error: on a terminal progress is redrawn in place, elsewhere only lasting lines appear.
// Threads: as sinks are called, one at a time.
sys::Events::Sink progress_sink(bool terminal, std::function<void(std::string_view)> write);

}  // namespace slipway::cli
