#include "cli/console.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

TEST(Console, WritesTheLinesOfTheNameItWasCalledBy) {
  EXPECT_EQ(style_for("slipway", true), Style::plain);
  EXPECT_EQ(style_for("openshift-install", true), Style::words);
  EXPECT_EQ(style_for("openshift-install", false), Style::key_values);
  struct Case {
    Style style;
    const char* level;
    const char* text;
    const char* lines;
  };
  const Case cases[] = {
      {Style::plain, "warning", "a\nb", "warning: a\nb\n"},
      {Style::key_values, "info", "done", "level=info msg=done\n"},
      {Style::key_values, "info", "a/b-c_d.e@f^g+h", "level=info msg=a/b-c_d.e@f^g+h\n"},
      {Style::key_values, "fatal", "no \"a\"\tb", "level=fatal msg=\"no \\\"a\\\"\\tb\"\n"},
      {Style::key_values, "error", "first\nthe second\n", "level=error msg=first\nlevel=error msg=\"the second\"\n"},
      {Style::key_values, "error", "", "level=error msg=\"\"\n"},
      {Style::words, "warning", "first\nsecond", "\x1b[33mWARNING\x1b[0m first\n\x1b[33mWARNING\x1b[0m second\n"},
      {Style::words, "fatal", "x", "\x1b[31mFATAL\x1b[0m x\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(console_lines(c.style, c.level, c.text), c.lines);
}

TEST(Console, LinesOfFilesHaveTheTime) {
  const WallTime time = parse_rfc3339("2026-11-21T09:30:00.125Z").value();
  EXPECT_EQ(file_lines(time, "debug", "a b\nc"),
            "time=\"2026-11-21T09:30:00Z\" level=debug msg=\"a b\"\ntime=\"2026-11-21T09:30:00Z\" level=debug msg=c\n");
}

TEST(Console, CommandsAreNamedAsTheProgramWasCalled) {
  const std::vector<Command> commands = {{.words = "create", .summary = ""}, {.words = "gather bootstrap", .summary = ""}};
  const auto replaced = [&](std::string text) { return with_called_name("openshift-install", std::move(text), commands); };
  EXPECT_EQ(replaced("`slipway gather bootstrap --dir x` or slipway create; slipway create"),
            "`openshift-install gather bootstrap --dir x` or openshift-install create; openshift-install create");
  EXPECT_EQ(replaced("the programs of slipway and slipway creates; /bin/slipway create"),
            "the programs of slipway and slipway creates; /bin/slipway create");
  EXPECT_EQ(with_called_name("slipway", "slipway create", commands), "slipway create");
}

}  // namespace
}  // namespace slipway::cli
