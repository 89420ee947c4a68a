// slipway completion: scripts for shells, of the table of commands.
#pragma once

#include "cli/command.h"

#include <span>
#include <string>
#include <string_view>

namespace slipway::cli {

enum class Shell { bash, zsh, fish };

// What a shell reads to complete the commands of a table. Pure.
//
//   program  what people type: "slipway"
std::string completion_script(Shell shell, std::string_view program, std::span<const Command> commands);

Command completion_bash_command();
Command completion_zsh_command();
Command completion_fish_command();

}  // namespace slipway::cli
