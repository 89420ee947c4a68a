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
  if (!arguments.has("--from")) {
    const Result<ClusterDirectory> known = read_cluster_directory(environment, absolute(arguments["--dir"]));
    if (known.ok()) found.cluster = known->cluster;
  }
  return std::optional(std::move(found));
}

Result<> add_events_of_machines(const Environment& environment, const Arguments& arguments, RecordedEvents& recorded) {
  if (arguments.has("--from")) return Ok{};
  const Result<ClusterDirectory> known = read_cluster_directory(environment, absolute(arguments["--dir"]));
  if (!known.ok() || known->platform.empty()) return Ok{};
  const OpenedProvider opened = TRY(open_machines(environment, arguments, known.value()));
  std::ranges::move(TRY(opened->events()), std::back_inserter(recorded.events));
  return Ok{};
}

}  // namespace slipway::cli
