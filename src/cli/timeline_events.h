// The events of an installation that its timeline is made of.
#pragma once

#include "cli/cluster_directory.h"
#include "sys/events.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cli {

struct RecordedEvents {
  std::string cluster{};  // name; empty if it is not known
  std::vector<sys::Event> events;
};

// The events of the file; nullopt if nothing was installed yet. errors: those of reading
Result<std::optional<RecordedEvents>> read_recorded_events(const Environment& environment, const Arguments& arguments);

// Adds the events of the machines of the asset directory, if they were created by slipway and exist. Not with --from.
// errors: those of open_machines
Result<> add_events_of_machines(const Environment& environment, const Arguments& arguments, RecordedEvents& recorded);

// The file that is read: --from, or that of the asset directory.
std::string recorded_events_path(const Arguments& arguments);

}  // namespace slipway::cli
