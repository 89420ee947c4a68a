#include "node/os_build/steps.h"

#include "base/number.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace slipway::node {

namespace {

// "[2/3] STEP 4/5: RUN make" -> {2, 4}
std::optional<std::pair<int, int>> step_of(std::string_view line) {
  int stage = 1;
  if (line.starts_with('[')) {
    line.remove_prefix(1);
    const std::optional<int> number = take_number<int>(line);
    const std::size_t end = line.find("] ");
    if (!number || end == std::string_view::npos) return std::nullopt;
    stage = *number;
    line.remove_prefix(end + 2);
  }
  constexpr std::string_view word = "STEP ";
  if (!line.starts_with(word)) return std::nullopt;
  line.remove_prefix(word.size());
  const std::optional<int> step = take_number<int>(line);
  if (!step || !line.starts_with('/')) return std::nullopt;
  return std::pair(stage, *step);
}

}  // namespace

bool begins_step(std::string_view line) { return step_of(line).has_value(); }

std::vector<Step> steps_of(std::string_view containerfile) {
  std::vector<Step> steps;
  int stage = 0, number = 0;
  for (machineconfig::Instruction& instruction : machineconfig::read_instructions(containerfile)) {
    if (instruction.name == "from") ++stage, number = 0;
    if (stage > 0) steps.push_back({.stage = stage, .number = ++number, .instruction = std::move(instruction)});
  }
  return steps;
}

const Step* last_step(const std::vector<Step>& steps, const std::vector<std::string>& output) {
  for (std::size_t i = output.size(); i-- > 0;) {
    const auto numbers = step_of(output[i]);
    if (!numbers) continue;
    const auto found = std::ranges::find_if(
        steps, [&](const Step& step) { return step.stage == numbers->first && step.number == numbers->second; });
    return found == steps.end() ? nullptr : &*found;
  }
  return nullptr;
}

}  // namespace slipway::node
