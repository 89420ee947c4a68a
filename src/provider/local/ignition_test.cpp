#include "provider/local/ignition.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

TEST(Ignition, ReasonIsTheLastLineWithoutItsPrefixes) {
  EXPECT_EQ(ignition_reason({"INFO     : Ignition 2.14.0", "CRITICAL : failed to acquire config: unsupported config version",
                             "CRITICAL : Ignition failed: unsupported config version"}),
            "unsupported config version");
  EXPECT_EQ(ignition_reason({"INFO     : Ignition 2.14.0"}), "INFO     : Ignition 2.14.0");
  EXPECT_EQ(ignition_reason({}), "it said nothing");
}

TEST(Ignition, NothingOfTheConfigIsShown) {
  EXPECT_EQ(line_for_people("INFO     : files: op(1): [started] writing file"),
            "INFO     : files: op(1): [started] writing file");
  EXPECT_EQ(line_for_people("DEBUG    : executing: \"usermod\" \"--password\" \"x\""), std::nullopt);
  EXPECT_EQ(line_for_people("        \"passwordHash\": \"x\""), std::nullopt);
  EXPECT_EQ(
      line_for_people("CRITICAL : exit status 12: Cmd: \"useradd\" \"--password\" \"x\" \"core\" Stdout: \"\" Stderr: \"no\\n\""),
      "CRITICAL : exit status 12: Cmd: \"useradd\" ... Stdout: \"\" Stderr: \"no\\n\"");
  EXPECT_EQ(line_for_people("CRITICAL : exit status 12: Cmd: \"useradd\" \"--password\" \"x"), "CRITICAL : exit status 12: ");
}

}  // namespace
}  // namespace slipway::provider::local
