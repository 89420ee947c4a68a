#include "cli/console.h"

#include "base/characters.h"
#include "base/json.h"
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace slipway::cli {

namespace {

constexpr std::string_view own_name = "slipway";

const std::map<std::string_view, int> colours = {{"debug", 37}, {"info", 36}, {"warning", 33}, {"error", 31}, {"fatal", 31}};

bool needs_no_quotes(char c) { return is_letter_or_digit(c) || std::string_view("-._/@^+").find(c) != std::string_view::npos; }

std::string quoted(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, needs_no_quotes)) return std::string(text);
  return emit_json(Json(text), JsonStyle::compact);
}

std::string key_values(std::string_view level, std::string_view line) {
  return fmt::format("level={} msg={}\n", level, quoted(line));
}

std::string words(std::string_view level, std::string_view line) {
  std::string name(level);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format("\x1b[{}m{}\x1b[0m {}\n", colours.at(level), name, line);
}

// Splits into lines; a newline at the end does not start another line.
std::vector<std::string_view> lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return split(text, '\n');
}

bool is_first_word_of_a_command(std::string_view text, std::span<const Command> commands) {
  const std::string_view word = text.substr(0, text.find_first_of(" `,;:.)\n"));
  return std::ranges::any_of(commands, [&](const Command& command) { return split(command.words, ' ').front() == word; });
}

}  // namespace

Style style_for(std::string_view program, bool terminal) {
  if (program != original_name) return Style::plain;
  return terminal ? Style::words : Style::key_values;
}

std::string console_lines(Style style, std::string_view level, std::string_view text) {
  if (style == Style::plain) return fmt::format("{}: {}\n", level, text);
  std::string lines;
  for (const std::string_view line : lines_of(text))
    lines += style == Style::words ? words(level, line) : key_values(level, line);
  return lines;
}

std::string file_lines(WallTime time, std::string_view level, std::string_view text) {
  const std::string when = to_rfc3339(std::chrono::floor<Seconds>(time));
  std::string lines;
  for (const std::string_view line : lines_of(text)) lines += fmt::format("time=\"{}\" {}", when, key_values(level, line));
  return lines;
}

std::string with_called_name(std::string_view program, std::string text, std::span<const Command> commands) {
  if (program == own_name) return text;
  const std::string before_command = fmt::format("{} ", own_name);
  for (std::size_t at = 0; (at = text.find(before_command, at)) != std::string::npos;) {
    const bool begins = at == 0 || std::string_view(" `'\"(\n").find(text[at - 1]) != std::string_view::npos;
    const std::string_view rest = std::string_view(text).substr(at + before_command.size());
    if (begins && is_first_word_of_a_command(rest, commands)) {
      text.replace(at, own_name.size(), program);
      at += program.size();
    } else {
      at += own_name.size();
    }
  }
  return text;
}

}  // namespace slipway::cli
