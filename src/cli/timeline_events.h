// The events of an installation that its timeline is made of.
#pragma once

#include "cli/cluster_directory.h"
#include "sys/events.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cli {

struct RecordedEvents {
  std::string cluster{};           // name; empty if it is not known
  std::vector<sys::Event> events;  // of the asset directory, then those of its machines while they exist
};

// Reads --dir and --from of the command; nullopt if nothing was installed yet. errors: those of reading
Result<std::optional<RecordedEvents>> read_recorded_events(const Environment& environment, const Arguments& arguments);

// The file that is read: --from, or that of the asset directory.
std::string recorded_events_path(const Arguments& arguments);

}  // namespace slipway::cli
