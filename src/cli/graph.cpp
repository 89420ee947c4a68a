#include "cli/graph.h"

#include "assets/graph.h"
#include "assets/graph_dot.h"

namespace slipway::cli {

namespace {

constexpr sys::Mode readable_by_all = 0644;
constexpr Milliseconds drawing_limit = Seconds(30);

Result<std::string> draw(const Environment& environment, std::string dot) {
  Result<std::string> drawn = sys::run_checked(environment.runner, environment.context,
                                               {.argv = {"dot", "-Tsvg"}, .input = std::move(dot), .limit = drawing_limit});
  if (drawn.ok() || drawn.error().code() != Code::not_found) return drawn;
  return error(Code::not_found, "program dot: not found (install graphviz, or use --format dot)");
}

Result<> graph(const Environment& environment, const Arguments& arguments) {
  std::string text = assets::to_dot(assets::asset_graph());
  if (arguments["--format"] == "svg") text = TRY(draw(environment, std::move(text)));
  if (arguments.has("--output-file")) return environment.files.write(arguments["--output-file"], text, readable_by_all);
  environment.print(text);
  return Ok{};
}

}  // namespace

Command graph_command() {
  return {.words = "graph",
          .summary = "Show which asset depends on which other assets",
          .options = {{.name = "--output-file", .value = "FILE", .help = "output file (default: standard output)"},
                      {.name = "--format",
                       .value = "dot|svg",
                       .help = "dot: Graphviz source; svg: an image, drawn by the program dot",
                       .fallback = "dot",
                       .choices = {"dot", "svg"}}},
          .run = graph};
}

}  // namespace slipway::cli
