#include "agent/instructions.h"

#include "agent/step.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

Json json(std::string_view text) { return parse_json(text, "test").value(); }

TEST(Instructions, AreRead) {
  EXPECT_EQ(parse_instructions(json(R"({"next_instruction_seconds": 120, "post_step_action": "exit", "new": 1, "instructions": [
              {"step_type": "inventory", "step_id": "inventory-1", "args": []},
              {"step_type": "verify-vips", "step_id": "verify-vips-2", "args": ["[{\"vip\": \"10.0.0.1\"}]", "ignored"]}]})"))
                .value(),
            (Instructions{.next = Seconds(120),
                          .must_exit = true,
                          .steps = {{"inventory", "inventory-1", nullptr},
                                    {"verify-vips", "verify-vips-2", json(R"([{"vip": "10.0.0.1"}])")}}}));
  EXPECT_EQ(parse_instructions(json("{}")).value().steps.size(), 0u);
}

TEST(Instructions, SayAllThatIsWrong) {
  const std::string message = parse_instructions(json(R"({"next_instruction_seconds": -1, "instructions": [
      {"step_id": "1"}, {"step_type": "x", "step_id": "2", "args": ["{"]}, {"step_type": "x", "step_id": "3", "args": [{}]}]})"))
                                  .error()
                                  .message();
  for (const char* part : {"next_instruction_seconds: must be between", "instructions[0].step_type: missing",
                           "instructions[1].args[0]", "instructions[2].args[0]: must be a string"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
  EXPECT_FALSE(parse_instructions(json("[]")).ok());
}

TEST(StepBook, RunsOneStepOfATypeAtATime) {
  StepBook book;
  const SteadyTime start{};
  const Milliseconds minute(60'000), second(1'000);
  EXPECT_TRUE(book.start({"inventory", "1", nullptr}, start, minute));
  EXPECT_FALSE(book.start({"inventory", "2", nullptr}, start + minute, minute));  // still runs
  EXPECT_TRUE(book.start({"verify-vips", "3", nullptr}, start, minute));
  book.end("inventory");
  EXPECT_FALSE(book.start({"inventory", "1", nullptr}, start + second, minute));  // the same instruction again
  EXPECT_TRUE(book.start({"inventory", "1", nullptr}, start + minute, minute));
  book.end("inventory");
  EXPECT_TRUE(book.start({"inventory", "2", nullptr}, start + minute + second, minute));
}

TEST(StepBook, KnowsWhatTheServiceHasForAnHour) {
  StepBook book;
  const SteadyTime start{};
  EXPECT_FALSE(book.is_known("inventory", "a", start));
  book.sent("inventory", "a", start);
  EXPECT_TRUE(book.is_known("inventory", "a", start + std::chrono::minutes(59)));
  EXPECT_FALSE(book.is_known("inventory", "b", start));
  EXPECT_FALSE(book.is_known("verify-vips", "a", start));
  EXPECT_FALSE(book.is_known("inventory", "a", start + std::chrono::minutes(60)));
  book.forget_sent();
  EXPECT_FALSE(book.is_known("inventory", "a", start));
}

TEST(Steps, HaveNoStepThatRunsCommands) {
  EXPECT_NE(find_step("inventory"), nullptr);
  for (const char* type : {"execute", "", "inventory ", "upgrade-agent"}) EXPECT_EQ(find_step(type), nullptr) << type;
}

}  // namespace
}  // namespace slipway::agent
