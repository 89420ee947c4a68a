// Reads recorded events (events.h).
#pragma once

#include "sys/events.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::sys {

// Parses one event a line, in order. Skips lines that are not events, for instance a line that a kill cut off.
std::vector<Event> parse_events(std::string_view lines);

// Reads the events of a file; nullopt if the file does not exist. errors: those of Files::read
Result<std::optional<std::vector<Event>>> read_events(Files& files, const std::string& path);

}  // namespace slipway::sys
