#include "cli/man_pages.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

Result<> nothing(const Environment&, const Arguments&) { return Ok{}; }

TEST(ManPages, HasAPageForEachCommandThatIsNotHidden) {
  const std::vector<Command> table = {
      {.words = "copy", .summary = "Copy things"},  // a group
      {.words = "copy files",
       .summary = "Copy files",
       .positionals = {{.name = "FROM", .value = "FROM", .help = "where from", .required = true}},
       .options = {{.name = "--to", .value = "DIR", .help = ".hidden\\ is a name", .fallback = "."}},
       .run = nothing,
       .when_interrupted = "run it again"},
      {.words = "secret", .summary = "Hidden", .run = nothing, .is_hidden = true}};
  const auto pages = man_pages("tool", "1.0", table);
  ASSERT_EQ(pages.size(), 2u);
  const std::string& page = pages.at("tool-copy-files.1");
  EXPECT_TRUE(
      page.starts_with(".TH \"TOOL\\-COPY\\-FILES\" 1 \"\" \"tool 1.0\" \"User Commands\"\n.SH NAME\n"
                       "tool\\-copy\\-files \\- Copy files\n"))
      << page;
  EXPECT_NE(page.find(".B tool copy files\n[\\fIOPTIONS\\fR] \\fIFROM\\fR\n"), std::string::npos) << page;
  EXPECT_NE(page.find(".TP\n.B \\-\\-to \\fIDIR\\fR\n\\&.hidden\\e is a name (default \\&.)\n"), std::string::npos) << page;
  EXPECT_NE(page.find(".SH WHEN INTERRUPTED\nrun it again.\n"), std::string::npos) << page;
  EXPECT_NE(pages.at("tool.1").find(".TP\n.BR tool\\-copy\\-files (1)\nCopy files\n"), std::string::npos);
  EXPECT_EQ(pages.at("tool.1").find("secret"), std::string::npos);
}

}  // namespace
}  // namespace slipway::cli
