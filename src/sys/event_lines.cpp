#include "sys/event_lines.h"

#include "base/text.h"
#include "sys/files.h"

namespace slipway::sys {

std::vector<Event> parse_events(std::string_view lines) {
  std::vector<Event> events;
  for (const std::string_view line : split(lines, '\n')) {
    Result<Event> event = parse_event(line);
    if (event.ok()) events.push_back(std::move(event).value());
  }
  return events;
}

Result<std::optional<std::vector<Event>>> read_events(Files& files, const std::string& path) {
  const std::optional<std::string> lines = TRY(files.read_if_exists(path));
  if (!lines) return std::optional<std::vector<Event>>();
  return std::optional(parse_events(*lines));
}

}  // namespace slipway::sys
