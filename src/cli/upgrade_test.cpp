#include "cli/upgrade.h"

#include "support/command_world.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

class UpgradeCommandTest : public testing_support::CommandTest {
 protected:
  std::string failure(std::vector<std::string> words) {
    words.insert(words.begin(), "upgrade");
    words.insert(words.end(), {"--dir", "/demo"});
    const Result<> ran = run(words);
    return ran.ok() ? "" : ran.error().message();
  }
};

TEST_F(UpgradeCommandTest, OptionsThatContradictEachOther) {
  EXPECT_EQ(failure({"--to", "0.1.1", "--clear"}), "--to, --clear: use only one of them");
  EXPECT_EQ(failure({"--to", "0.1.1", "status"}), "--to, status: use only one of them");
  EXPECT_EQ(failure({"--force"}), "--force: needs --to or --release");
  EXPECT_EQ(failure({"--clear", "--wait"}), "--wait: cannot be used with --clear");
  EXPECT_EQ(failure({"status", "--wait"}), "--wait: cannot be used with status");
}

TEST_F(UpgradeCommandTest, NeedsACluster) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"--to", "0.1.1"}, {"--release", "/r"}, {"--wait"}}) {
    EXPECT_TRUE(failure(words).starts_with("no cluster was created from this directory yet: reading /demo/auth/kubeconfig"))
        << failure(words);
  }
}

}  // namespace
}  // namespace slipway::cli
