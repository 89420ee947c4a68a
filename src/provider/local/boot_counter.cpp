#include "provider/local/boot_counter.h"

#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace slipway::provider::local {

namespace {

constexpr std::string_view header = "# GRUB Environment Block\n";
constexpr std::string_view counter_name = "boot_counter=", success_name = "boot_success=";
constexpr std::size_t block_size = 1024;

// The last value counts, as in GRUB.
std::string_view value_of(const GrubEnvironment& environment, std::string_view name) {
  std::string_view value;
  for (const std::string& line : environment.lines) {
    if (line.starts_with(name)) value = std::string_view(line).substr(name.size());
  }
  return value;
}

}  // namespace

Result<GrubEnvironment> parse_grub_environment(std::string_view text) {
  if (text.size() != block_size) return error(Code::invalid, "has {} bytes instead of {}", text.size(), block_size);
  if (!text.starts_with(header)) return error(Code::invalid, "does not begin with '{}'", trim(header));
  GrubEnvironment environment;
  // The end without a line end is padding. Without this rule, a file without padding would not fit any more after a change.
  const std::string_view complete = text.substr(0, text.rfind('\n'));
  for (std::string_view line : split(complete.substr(std::min(header.size(), complete.size())), '\n')) {
    if (!line.empty() && !line.starts_with('#')) environment.lines.emplace_back(line);
  }
  return environment;
}

Result<std::string> serialise(const GrubEnvironment& environment) {
  std::string text(header);
  for (const std::string& line : environment.lines) text += line + "\n";
  if (text.size() > block_size) return error(Code::invalid, "needs {} bytes, has {}", text.size(), block_size);
  text.resize(block_size, '#');
  return text;
}

BootDecision decide_boot(const GrubEnvironment& environment) {
  const std::optional<int> counter = parse_number<int>(value_of(environment, counter_name));
  if (!counter || *counter < 0 || *counter > 3 || value_of(environment, success_name) != "0") return {};
  if (*counter == 0) return {.choice = BootChoice::one_before_newest};
  GrubEnvironment after = environment;
  std::erase_if(after.lines, [](const std::string& line) { return line.starts_with(counter_name); });
  after.lines.push_back(fmt::format("{}{}", counter_name, *counter - 1));
  return {.attempts_left = *counter - 1, .save = std::move(after)};
}

}  // namespace slipway::provider::local
