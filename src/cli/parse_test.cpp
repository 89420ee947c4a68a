#include "cli/parse.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

Result<> nothing(const Environment&, const Arguments&) { return Ok{}; }

const std::vector<Command> table = {
    {.words = "release", .summary = "Releases"},
    {.words = "release info",
     .summary = "Show a release",
     .positionals = {{.name = "IMAGE|DIR", .value = "IMAGE|DIR", .help = "the release", .required = true}},
     .options = {{.name = "--output", .value = "text|json", .help = "form", .fallback = "text", .choices = {"text", "json"}},
                 {.name = "--wide", .value = "", .help = "more columns"}},
     .run = nothing},
    {.words = "release mirror",
     .summary = "Copy a release",
     .options = {{.name = "--to", .value = "REPOSITORY", .help = "where to", .required = true}},
     .run = nothing},
    {.words = "run",
     .summary = "Run words",
     .positionals = {{.name = "NAME", .value = "NAME", .help = "where", .required = true},
                     {.name = "WORD...", .value = "WORD", .help = "what", .repeats = true}},
     .options = {{.name = "--with", .value = "X", .help = "more", .repeats = true}},
     .run = nothing},
    {.words = "own", .summary = "Called by us", .run = nothing, .is_hidden = true},
    {.words = "version", .summary = "Print the version", .run = nothing},
};

Parsed parse_words(const std::vector<std::string>& argv) { return parse("slipway", argv, table); }

TEST(Parse, FillsInWhatWasGivenAndWhatWasNot) {
  Parsed parsed = parse_words({"release", "info", "build/release", "--wide", "--log-level", "debug"});
  ASSERT_TRUE(parsed.invocation) << parsed.text;
  EXPECT_EQ(parsed.invocation->command->words, "release info");
  EXPECT_EQ(parsed.invocation->arguments["IMAGE|DIR"], "build/release");
  EXPECT_EQ(parsed.invocation->arguments["--output"], "text");
  EXPECT_TRUE(parsed.invocation->arguments.has("--wide"));
  EXPECT_EQ(parsed.invocation->log_level, Level::debug);
  EXPECT_EQ(parsed.invocation->arguments["--dir"], ".");
  EXPECT_EQ(parse_words({"--events", "x", "version"}).invocation->arguments["--events"], "x");
  EXPECT_FALSE(parse_words({"release", "info", "x"}).invocation->arguments.has("--wide"));
}

TEST(Parse, TakesWhatIsGeneralBeforeACommandAndBehindIt) {
  for (const std::vector<std::string>& argv :
       std::vector<std::vector<std::string>>{{"--dir", "a", "--log-level=fatal", "release", "info", "x"},
                                             {"release", "--dir", "a", "info", "--log-level", "panic", "x"},
                                             {"release", "info", "x", "--dir=b", "--dir", "a", "--log-level", "error"}}) {
    const Parsed parsed = parse_words(argv);
    ASSERT_TRUE(parsed.invocation) << parsed.text;
    EXPECT_EQ(parsed.invocation->arguments["--dir"], "a");
    EXPECT_EQ(parsed.invocation->log_level, Level::error);
  }
  EXPECT_EQ(parse_words({"version", "--log-level", "trace"}).invocation->log_level, Level::debug);
}

TEST(Parse, TakesWhatRepeatsAndLeavesOtherProgramsOptionsAlone) {
  const Parsed parsed = parse_words({"run", "--with", "a", "m0", "--with=b", "--", "ls", "--help", "version"});
  ASSERT_TRUE(parsed.invocation) << parsed.text;
  const Arguments& arguments = parsed.invocation->arguments;
  EXPECT_EQ(arguments["NAME"], "m0");
  EXPECT_EQ(arguments.list("WORD..."), (std::vector<std::string>{"ls", "--help", "version"}));
  EXPECT_EQ(arguments.list("--with"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(parse_words({"run", "m0"}).invocation->arguments.list("WORD...").empty());
}

TEST(Parse, HiddenCommandsWorkAndAreNotInHelp) {
  EXPECT_TRUE(parse_words({"own"}).invocation);
  EXPECT_EQ(parse_words({"--help"}).text.find("Called by us"), std::string::npos);
}

TEST(Parse, SaysWhatIsWrongAndWhereHelpIs) {
  struct Case {
    std::vector<std::string> argv;
    const char* text;
  };
  const Case cases[] = {
      {{"release", "info"}, "IMAGE|DIR is required; see `slipway release info --help`"},
      {{"release", "info", "x", "--output", "xml"}, "--output: xml not in {text,json}; see `slipway release info --help`"},
      {{"release", "mirror"}, "--to is required; see `slipway release mirror --help`"},
      {{"release", "inof"}, "The following argument was not expected: inof; see `slipway release --help`"},
      {{"version", "extra"}, "The following argument was not expected: extra; see `slipway version --help`"},
      {{"version", "own"}, "The following argument was not expected: own; see `slipway version --help`"},
      {{"version", "--log-level", "loud"},
       "--log-level: 'loud' is not one of trace, debug, info, warn, error, fatal, panic; see `slipway version --help`"},
  };
  for (const Case& c : cases) {
    Parsed parsed = parse_words(c.argv);
    EXPECT_FALSE(parsed.invocation);
    EXPECT_EQ(parsed.text, c.text);
    EXPECT_EQ(parsed.status, 1);
  }
}

TEST(Parse, HelpAndGroupsSucceed) {
  for (const std::vector<std::string>& argv :
       std::vector<std::vector<std::string>>{{}, {"--help"}, {"release"}, {"release", "info", "--help"}}) {
    Parsed parsed = parse_words(argv);
    EXPECT_FALSE(parsed.invocation);
    EXPECT_EQ(parsed.status, 0);
    EXPECT_NE(parsed.text.find("Usage:"), std::string::npos) << parsed.text;
  }
  const std::string help = parse_words({"release", "info", "--help"}).text;
  for (const char* part : {"Usage: slipway release info IMAGE|DIR [OPTIONS]", "--output", "text|json (default text)",
                           "Show a release", "Global Options:\n  --dir DIR (default .)"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << " in\n" << help;
  }
  EXPECT_EQ(parse("openshift-install", {"release", "--help"}, table).text.find("slipway"), std::string::npos);
  EXPECT_NE(parse("slipway", {"run", "--help"}, table).text.find("Usage: slipway run NAME [WORD...] [OPTIONS]"),
            std::string::npos);
}

}  // namespace
}  // namespace slipway::cli
