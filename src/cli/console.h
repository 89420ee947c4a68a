// Log lines on standard error, and in the log of an asset directory. Pure.
//
// slipway writes "info: ...". Called as openshift-install, it writes the format of openshift-install, which other programs parse:
// colours on a terminal, keys and values elsewhere, one log line for each line of the text.
#pragma once

#include "base/time.h"
#include "cli/command.h"

#include <span>
#include <string>
#include <string_view>

namespace slipway::cli {

inline constexpr std::string_view original_name = "openshift-install";

enum class Style {
  plain,       // info: two words
  words,       // INFO two words
  key_values,  // level=info msg="two words"
};

Style style_for(std::string_view program, bool terminal);

// level: "debug", "info", "warning", "error", "fatal". Ends with a newline.
std::string console_lines(Style style, std::string_view level, std::string_view text);

// time="2026-11-21T09:30:00Z" level=info msg="two words"
std::string file_lines(WallTime time, std::string_view level, std::string_view text);

// Messages name commands as `slipway gather bootstrap`. If the program was called by another name, the commands are replaced.
std::string with_called_name(std::string_view program, std::string text, std::span<const Command> commands);

}  // namespace slipway::cli
