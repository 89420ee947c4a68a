#include "cli/cluster_commands.h"

#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cluster/timeline.h"
#include "cluster/timeline_html.h"
#include "sys/event_lines.h"

#include <algorithm>

namespace slipway::cli {

namespace {

Result<> timeline(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const std::string path = arguments.has("--from") ? absolute(arguments["--from"]) : events_path(folder);
  auto events = TRY(sys::read_events(environment.files, path));
  if (!events)
    return error(Code::not_found, "{}: not found, nothing was installed from this directory (name another one with --dir)", path);
  std::string name;
  if (const Result<ClusterDirectory> known = read_cluster_directory(environment, folder);
      known.ok() && !arguments.has("--from")) {
    name = known->cluster;
    if (!known->platform.empty()) {
      const OpenedProvider opened = TRY(open_machines(environment, arguments, known.value()));
      std::ranges::move(TRY(opened->events()), std::back_inserter(*events));
    }
  }
  const cluster::Timeline made = cluster::make_timeline(std::move(*events));
  const std::string& output = arguments["--output"];
  environment.print(output == "html"   ? cluster::to_html(made, name)
                    : output == "json" ? emit_json(cluster::to_json(made, name), JsonStyle::pretty)
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
