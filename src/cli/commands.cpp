#include "cli/command.h"
#include "cli/release_commands.h"
#include "cli/version.h"

namespace slipway::cli {

std::span<const Command> commands() {
  static const std::vector<Command> table = {
      {.words = "release", .summary = "Releases: what is in them, copies of them"},
      release_info_command(),
      release_mirror_command(),
      {.words = "version",
       .summary = "Print the version of this program",
       .options = {{.name = "--output", .value = "text|json", .help = "form of the output", .fallback = "text", .choices = {"text", "json"}}},
       .run = version},
  };
  return table;
}

}  // namespace slipway::cli
