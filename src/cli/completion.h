// slipway completion: shell completion scripts, generated from the table of commands.
#pragma once

#include "cli/command.h"

#include <span>
#include <string>
#include <string_view>

namespace slipway::cli {

enum class Shell { bash, zsh, fish };

// The completion script of a shell for a table of commands. Pure.
//
//   program  the name of the program: "slipway"
std::string completion_script(Shell shell, std::string_view program, std::span<const Command> commands);

Command completion_bash_command();
Command completion_zsh_command();
Command completion_fish_command();

}  // namespace slipway::cli
