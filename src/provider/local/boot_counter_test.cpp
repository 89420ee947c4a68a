#include "provider/local/boot_counter.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

std::string block(std::string content) {
  content.resize(1024, '#');
  return content;
}

TEST(GrubEnvironment, ReadsAndWritesWhatBootCounterWrites) {
  const std::string text = block("# GRUB Environment Block\nsaved_entry=a b\nboot_counter=3\nboot_success=0\n");
  const Result<GrubEnvironment> environment = parse_grub_environment(text);
  ASSERT_TRUE(environment.ok()) << environment.error().message();
  EXPECT_EQ(environment.value(), (GrubEnvironment{{"saved_entry=a b", "boot_counter=3", "boot_success=0"}}));
  const Result<std::string> written = serialise(environment.value());
  ASSERT_TRUE(written.ok()) << written.error().message();
  EXPECT_EQ(written.value(), text);
}

TEST(GrubEnvironment, IgnoresALineWithoutEnd) {
  const Result<GrubEnvironment> environment =
      parse_grub_environment(block("# GRUB Environment Block\na=1\nb=" + std::string(994, 'x')));
  ASSERT_TRUE(environment.ok()) << environment.error().message();
  EXPECT_EQ(environment.value(), (GrubEnvironment{{"a=1"}}));
  EXPECT_EQ(parse_grub_environment(block("# GRUB Environment Block\n")).value(), GrubEnvironment{});
}

TEST(GrubEnvironment, RefusesOtherFiles) {
  const struct {
    std::string text, message;
  } rows[] = {
      {"", "has 0 bytes instead of 1024"},
      {"# GRUB Environment Block\nboot_counter=3\n", "has 40 bytes instead of 1024"},
      {block("boot_counter=3\n"), "does not begin with '# GRUB Environment Block'"},
  };
  for (const auto& row : rows) {
    const Result<GrubEnvironment> environment = parse_grub_environment(row.text);
    ASSERT_FALSE(environment.ok()) << row.text;
    EXPECT_EQ(environment.error().message(), row.message);
    EXPECT_EQ(environment.error().code(), Code::invalid);
  }
  EXPECT_EQ(serialise({{std::string(1000, 'x')}}).error().code(), Code::invalid);
  EXPECT_TRUE(serialise({{std::string(998, 'x')}}).ok());
}

TEST(BootDecision, CountsThreeAttemptsAndThenFallsBack) {
  GrubEnvironment environment{{"boot_counter=3", "boot_success=0", "kept=1"}};
  for (int left : {2, 1, 0}) {
    const BootDecision decision = decide_boot(environment);
    EXPECT_EQ(decision.choice, BootChoice::newest);
    EXPECT_EQ(decision.attempts_left, left);
    ASSERT_TRUE(decision.save);
    environment = *decision.save;
    EXPECT_EQ(environment, (GrubEnvironment{{"boot_success=0", "kept=1", "boot_counter=" + std::to_string(left)}}));
  }
  EXPECT_EQ(decide_boot(environment), (BootDecision{BootChoice::one_before_newest, std::nullopt, std::nullopt}));
}

TEST(BootDecision, CountsNothingElse) {
  for (const std::vector<std::string>& lines : {std::vector<std::string>{},
                                                {"boot_success=0"},
                                                {"boot_counter=3"},
                                                {"boot_counter=3", "boot_success=1"},
                                                {"boot_counter=", "boot_success=0"},
                                                {"boot_counter=4", "boot_success=0"},
                                                {"boot_counter=-1", "boot_success=0"},
                                                {"boot_counter=x", "boot_success=0"},
                                                {"boot_counter=3", "boot_success=0", "boot_success=1"}}) {
    EXPECT_EQ(decide_boot({lines}), BootDecision{}) << testing::PrintToString(lines);
  }
}

}  // namespace
}  // namespace slipway::provider::local
