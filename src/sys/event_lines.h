// Events that were kept (events.h), read again.
#pragma once

#include "sys/events.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::sys {

// The events of these lines, in their order. Lines that are none, such as one that a kill cut, are passed over.
std::vector<Event> parse_events(std::string_view lines);

// Those of a file; nothing when there is no such file. errors: those of Files::read
Result<std::optional<std::vector<Event>>> read_events(Files& files, const std::string& path);

}  // namespace slipway::sys
