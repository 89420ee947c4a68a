// The dialog that creates an install-config at a terminal. Without a terminal, an error says which file to write.
#pragma once

#include "cli/command.h"
#include "config/wizard.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::cli {

// The terminal of the dialog.
struct Prompter {
  std::function<void(std::string_view)> show;
  // Reads a line, without echo if `hidden`; nothing at the end of the input.
  std::function<Result<std::optional<std::string>>(std::string_view prompt, bool hidden)> read_line;
};

// Asks all questions. Each question is repeated until its answer is valid. errors: invalid: the input ended; those of Prompter
Result<> ask(const Prompter& prompter, config::Wizard& wizard);

// Asks for the text of a new install-config.
//
//   folder  the asset directory without an install-config, for the message
//   errors  not_found: no terminal, with the file to write; those of ask()
Result<std::string> ask_for_install_config(const Environment& environment, const std::string& folder);

}  // namespace slipway::cli
