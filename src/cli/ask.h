// RegistryAccess somebody at a terminal for an install-config, and saying what to write where nobody can be asked.
#pragma once

#include "cli/command.h"
#include "config/wizard.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::cli {

// Who is asked.
struct Prompter {
  std::function<void(std::string_view)> show;
  // A line, hidden or not; nothing when the input ends.
  std::function<Result<std::optional<std::string>>(std::string_view prompt, bool hidden)> read_line;
};

// Asks everything, each question until its answer is good. errors: invalid: the input ended; those of Person
Result<> ask(const Prompter& prompter, config::Wizard& wizard);

// The text of a new install-config: what somebody at the terminal answers.
//
//   folder  that there is none in, for the message
//   errors  not_found: there is no terminal, with the file to write; those of ask()
Result<std::string> ask_for_install_config(const Environment& environment, const std::string& folder);

}  // namespace slipway::cli
