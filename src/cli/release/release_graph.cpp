#include "base/yaml.h"
#include "cli/release/chosen_release.h"
#include "cli/release/release_commands.h"
#include "cli/release/release_source.h"
#include "release/update_graph.h"

#include <algorithm>

namespace slipway::cli {

namespace {

const std::string releases_argument = "IMAGE|DIR...";

Result<release::GraphRelease> read_release(const Environment& environment, const Arguments& arguments, const std::string& name) {
  const ReleaseSource source = TRY(open_release(environment, arguments, name));
  release::Release about = TRY(release::load_release(environment.context, *source.images, source.reference));
  return release::GraphRelease{
      .version = about.version, .image = image_name(source.reference, about.digest), .previous = std::move(about.previous)};
}

Result<> check(const Environment& environment, const std::string& file, const std::vector<release::GraphRelease>& releases) {
  const YamlDocument graph = TRY(parse_yaml(TRY(environment.files.read(file)), file));
  TRY(release::check_update_graph(graph, releases).to_result());
  environment.print(fmt::format("{}: valid: {} releases, {} edges, {} groups of edges with risks\n", file,
                                find_array(graph.value, {"nodes"}).size(), find_array(graph.value, {"edges"}).size(),
                                find_array(graph.value, {"conditionalEdges"}).size()));
  return Ok{};
}

Result<> release_graph(const Environment& environment, const Arguments& arguments) {
  const std::vector<std::string>& names = arguments.list(releases_argument);
  const bool checks = arguments.has("--check");
  if (names.empty() && !checks)
    return error(Code::invalid, "no releases named (name releases, or check a graph with --check FILE)");
  if (checks && (arguments.has("--edges") || !arguments.list("--channel").empty()))
    return error(Code::invalid, "--edges and --channel: have no effect with --check");
  std::vector<release::GraphRelease> releases;
  for (const std::string& name : names) releases.push_back(TRY(read_release(environment, arguments, name)));
  if (checks) return check(environment, arguments["--check"], releases);
  std::optional<YamlDocument> rules;
  if (const std::string& file = arguments["--edges"]; !file.empty())
    rules = TRY(parse_yaml(TRY(environment.files.read(file)), file));
  const Json graph = TRY(release::make_update_graph(std::move(releases), arguments.list("--channel"), rules));
  environment.print(emit_json(graph, JsonStyle::pretty));
  return Ok{};
}

}  // namespace

Command release_graph_command() {
  Command command{
      .words = "release graph",
      .summary = "Print or check the JSON of an update service",
      .positionals = {{.name = releases_argument,
                       .value = "IMAGE|DIR",
                       .help = "releases: image references, or folders with OCI image layouts",
                       .repeats = true}},
      .options = {{.name = "--edges",
                   .value = "FILE",
                   .help = "YAML with edges and conditionalEdges (default: edges by version)"},
                  {.name = "--channel", .value = "NAME", .help = "a channel that contains the releases", .repeats = true},
                  {.name = "--check", .value = "FILE", .help = "check this graph, and that it contains the releases"}},
      .run = release_graph};
  std::ranges::move(registry_option_rows(), std::back_inserter(command.options));
  return command;
}

}  // namespace slipway::cli
