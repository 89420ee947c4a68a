#include "cli/ask.h"

#include "config/install_config.h"
#include "data/data.h"

#include <gtest/gtest.h>

#include <deque>

namespace slipway::cli {
namespace {

// A user who types these lines.
struct Typist {
  std::deque<std::string> lines;
  std::string shown{};
  int hidden = 0;

  Prompter prompter() {
    return {.show = [this](std::string_view text) { shown += text; },
            .read_line = [this](std::string_view prompt, bool is_hidden) -> Result<std::optional<std::string>> {
              shown += prompt;
              hidden += is_hidden;
              if (lines.empty()) return std::optional<std::string>(std::nullopt);
              std::string line = lines.front();
              lines.pop_front();
              return std::optional(line);
            }};
  }
};

TEST(Ask, EachQuestionIsAskedUntilItsAnswerIsGood) {
  Typist typist{.lines = {"none", "example.com", "Demo", "demo", R"({"auths":{"r.example.com":{"auth":"eDp5"}}})"}};
  config::Wizard wizard({});
  const Result<> asked = ask(typist.prompter(), wizard);
  ASSERT_TRUE(asked.ok()) << asked.error().message();
  EXPECT_TRUE(typist.shown.starts_with("Platform:\n  1) local\n  2) none\n")) << typist.shown;
  EXPECT_NE(typist.shown.find("Number or name [local]: Base domain: Cluster name:   "), std::string::npos) << typist.shown;
  EXPECT_EQ(typist.hidden, 1);
  EXPECT_TRUE(config::load_install_config(wizard.install_config(), "x").ok());
}

TEST(Ask, InputThatEndsIsNoAnswer) {
  Typist typist{.lines = {"none"}};
  config::Wizard wizard({});
  const Result<> asked = ask(typist.prompter(), wizard);
  ASSERT_FALSE(asked.ok());
  EXPECT_NE(asked.error().message().find("nothing was written"), std::string::npos);
}

TEST(Ask, TheExampleThatPeopleAreShownIsGood) {
  const auto loaded = config::load_install_config(data::content(data::command_line(), "install-config.yaml"), "example");
  EXPECT_TRUE(loaded.ok()) << loaded.error().message();
}

}  // namespace
}  // namespace slipway::cli
