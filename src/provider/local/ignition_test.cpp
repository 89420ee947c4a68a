#include "provider/local/ignition.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

TEST(Ignition, ReasonIsTheLastLineWithoutItsPrefixes) {
  EXPECT_EQ(ignition_reason({"INFO     : Ignition 2.14.0", "CRITICAL : failed to acquire config: unsupported config version",
                             "CRITICAL : Ignition failed: unsupported config version"}),
            "unsupported config version");
  EXPECT_EQ(ignition_reason({"INFO     : Ignition 2.14.0"}), "INFO     : Ignition 2.14.0");
  EXPECT_EQ(ignition_reason({}), "no output");
}

TEST(Ignition, EachAttemptToGetAConfigHasAResult) {
  const std::pair<const char*, std::optional<std::string>> cases[] = {
      {"INFO     : GET https://10.97.77.5:22623/config/worker: attempt #7", std::nullopt},
      {"INFO     : GET result: Internal Server Error", "Internal Server Error"},
      {"INFO     : GET error: Get \"https://10.97.77.5:22623/config/worker\": dial tcp 10.97.77.5:22623: connect: connection "
       "refused",
       "Get \"https://10.97.77.5:22623/config/worker\": dial tcp 10.97.77.5:22623: connect: connection refused"},
      {"INFO     : GET result: OK", ""},
      {"INFO     : files: op(1): [started] writing file", std::nullopt},
  };
  for (const auto& [line, result] : cases) EXPECT_EQ(attempt_result(line), result) << line;
}

TEST(Ignition, NothingOfTheConfigIsShown) {
  EXPECT_EQ(printable_line("INFO     : files: op(1): [started] writing file"), "INFO     : files: op(1): [started] writing file");
  EXPECT_EQ(printable_line("DEBUG    : executing: \"usermod\" \"--password\" \"x\""), std::nullopt);
  EXPECT_EQ(printable_line("        \"passwordHash\": \"x\""), std::nullopt);
  EXPECT_EQ(
      printable_line("CRITICAL : exit status 12: Cmd: \"useradd\" \"--password\" \"x\" \"core\" Stdout: \"\" Stderr: \"no\\n\""),
      "CRITICAL : exit status 12: Cmd: \"useradd\" ... Stdout: \"\" Stderr: \"no\\n\"");
  EXPECT_EQ(printable_line("CRITICAL : exit status 12: Cmd: \"useradd\" \"--password\" \"x"), "CRITICAL : exit status 12: ");
}

}  // namespace
}  // namespace slipway::provider::local
