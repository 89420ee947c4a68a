#include "cli/timeline_events.h"

#include "cli/local_options.h"
#include "sys/event_lines.h"

#include <algorithm>

namespace slipway::cli {

std::string recorded_events_path(const Arguments& arguments) {
  return arguments.has("--from") ? absolute(arguments["--from"]) : events_path(absolute(arguments["--dir"]));
}

Result<std::optional<RecordedEvents>> read_recorded_events(const Environment& environment, const Arguments& arguments) {
  auto events = TRY(sys::read_events(environment.files, recorded_events_path(arguments)));
  if (!events) return std::optional<RecordedEvents>();
  RecordedEvents found{.events = std::move(*events)};
  if (arguments.has("--from")) return std::optional(std::move(found));
  const Result<ClusterDirectory> known = read_cluster_directory(environment, absolute(arguments["--dir"]));
  if (known.ok()) {
    found.cluster = known->cluster;
    if (!known->platform.empty()) {
      const OpenedProvider opened = TRY(open_machines(environment, arguments, known.value()));
      std::ranges::move(TRY(opened->events()), std::back_inserter(found.events));
    }
  }
  return std::optional(std::move(found));
}

}  // namespace slipway::cli
