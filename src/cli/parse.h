// Reading the command line: from argv and the table of commands to what shall be run.
#pragma once

#include "base/log.h"
#include "cli/command.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace slipway::cli {

struct Invocation {
  const Command* command = nullptr;
  Arguments arguments;
  Level log_level = Level::info;
};

// What came of reading: something to run, or the status to end with and a text: of 0 help, of 1 a sentence about a mistake.
struct Parsed {
  std::optional<Invocation> invocation{};
  std::string text{};
  int status = 0;
};

// argv without the program's name. `program` is the name that help shows. A group of commands without one of them prints its
// help and succeeds, as openshift-install does. Mistakes have status 1 and name the nearest help.
Parsed parse(std::string_view program, const std::vector<std::string>& argv, std::span<const Command> commands);

}  // namespace slipway::cli
