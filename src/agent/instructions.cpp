#include "agent/instructions.h"

#include "base/findings.h"
#include "base/text.h"

#include <fmt/core.h>

namespace slipway::agent {

namespace {

constexpr Milliseconds known_for = std::chrono::hours(1);
constexpr int longest_pause = 3600;

void read_step(const Json& item, const std::string& path, Findings& findings, std::vector<Instruction>& steps) {
  Instruction step{.type = text_of(item, {"step_type"}), .id = text_of(item, {"step_id"}), .arguments = nullptr};
  if (step.type.empty()) findings.error({}, path + ".step_type", "missing, must be a string");
  if (step.id.empty()) findings.error({}, path + ".step_id", "missing, must be a string");
  const JsonArray& arguments = find_array(item, {"args"});
  if (!arguments.empty()) {
    const auto* text = arguments.front().if_string();
    Result<Json> parsed = text ? parse_json({text->data(), text->size()}, "JSON")
                               : Result<Json>(error(Code::invalid, "must be a string, is {}", kind_name(arguments.front())));
    if (parsed.ok()) {
      step.arguments = std::move(parsed).value();
    } else {
      findings.error({}, path + ".args[0]", "{}", parsed.error().message());
    }
  }
  steps.push_back(std::move(step));
}

}  // namespace

Result<Instructions> parse_instructions(const Json& answer) {
  if (!answer.is_object()) return error(Code::invalid, "the instructions must be an object, are {}", kind_name(answer));
  Findings findings;
  Instructions found;
  const int seconds = integer_of(answer, {"next_instruction_seconds"});
  if (seconds < 0 || seconds > longest_pause) {
    findings.error({}, "next_instruction_seconds", "must be between 0 and {}, is {}", longest_pause, seconds);
  }
  found.next = Seconds(seconds);
  found.must_exit = text_of(answer, {"post_step_action"}) == "exit";
  for (const Json& item : find_array(answer, {"instructions"})) {
    read_step(item, fmt::format("instructions[{}]", found.steps.size()), findings, found.steps);
  }
  TRY(findings.to_result());
  return found;
}

bool StepBook::start(const Instruction& step, SteadyTime now, Milliseconds again_after) {
  const auto found = started_.find(step.type);
  if (found != started_.end() && found->second.is_running) return false;
  if (found != started_.end() && found->second.id == step.id && now - found->second.at < again_after) return false;
  started_[step.type] = {.id = step.id, .at = now};
  return true;
}

void StepBook::end(const std::string& type) {
  const auto found = started_.find(type);
  if (found != started_.end()) found->second.is_running = false;
}

bool StepBook::is_known(const std::string& type, const std::string& output, SteadyTime now) const {
  const auto found = sent_.find(type);
  return found != sent_.end() && found->second.output == output && now - found->second.at < known_for;
}

void StepBook::sent(const std::string& type, const std::string& output, SteadyTime now) { sent_[type] = {output, now}; }

}  // namespace slipway::agent
