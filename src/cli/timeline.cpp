#include "cli/cluster_commands.h"

#include "cli/local_options.h"
#include "cli/timeline_events.h"
#include "cluster/timeline.h"
#include "cluster/timeline_html.h"

namespace slipway::cli {

namespace {

Result<> timeline(const Environment& environment, const Arguments& arguments) {
  auto recorded = TRY(read_recorded_events(environment, arguments));
  if (!recorded) {
    return error(Code::not_found, "{}: not found, nothing was installed from this directory (name another one with --dir)",
                 recorded_events_path(arguments));
  }
  TRY(add_events_of_machines(environment, arguments, *recorded));
  const cluster::Timeline made = cluster::make_timeline(std::move(recorded->events));
  const std::string& output = arguments["--output"];
  environment.print(output == "html"   ? cluster::to_html(made, recorded->cluster)
                    : output == "json" ? emit_json(cluster::to_json(made, recorded->cluster), JsonStyle::pretty)
                                       : cluster::to_text(made));
  return Ok{};
}

}  // namespace

Command timeline_command() {
  return {
      .words = "timeline",
      .summary = "Show when each step of the installation ran, and the critical path",
      .options = {{.name = "--from", .value = "FILE", .help = "file with events (default: the events of the asset directory)"},
                  {.name = "--output",
                   .value = "text|html|json",
                   .help = "html: one HTML file; json: for programs",
                   .fallback = "text",
                   .choices = {"text", "html", "json"}},
                  state_of_directory_option()},
      .run = timeline};
}

}  // namespace slipway::cli
