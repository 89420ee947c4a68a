// Parses the command line: argv and the table of commands become a command to run.
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

// The result: a command to run, or an exit status with a text. Status 0: help; status 1: an error message.
struct Parsed {
  std::optional<Invocation> invocation{};
  std::string text{};
  int status = 0;
};

// argv without the name of the program; help shows `program`. A group without a command prints its help and succeeds, as in
// openshift-install. Errors have status 1 and name the command whose help is closest.
Parsed parse(std::string_view program, const std::vector<std::string>& argv, std::span<const Command> commands);

}  // namespace slipway::cli
