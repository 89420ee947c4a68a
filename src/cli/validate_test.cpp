// slipway validate and slipway explain, and --strict of the commands that make assets.
#include "cli/validate.h"

#include "cli/asset_inputs.h"
#include "config/schema/json_schema.h"
#include "config/schema/reference.h"
#include "support/command_world.h"

namespace slipway::cli {
namespace {

using ValidateTest = testing_support::CommandTest;

constexpr std::string_view good = "apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\nplatform: {local: {}}\n";
constexpr sys::Mode only_mine = 0600;

TEST_F(ValidateTest, SaysThatAConfigIsValid) {
  ASSERT_TRUE(files.write("/a/install-config.yaml", good, only_mine).ok());
  ASSERT_TRUE(run({"validate", "--dir", "/a"}).ok());
  EXPECT_EQ(printed, "/a/install-config.yaml is valid\n");
  EXPECT_EQ(status, 0);
}

TEST_F(ValidateTest, TellsAllFindingsAndEndsWithThree) {
  ASSERT_TRUE(files.write("/a/install-config.yaml", fmt::format("{}publsh: x\nfips: 7\n", good), only_mine).ok());
  ASSERT_TRUE(run({"validate", "--dir", "/a"}).ok());
  EXPECT_EQ(printed,
            "/a/install-config.yaml:5:1: warning: publsh: unknown field, no effect (did you mean 'publish'?)\n"
            "/a/install-config.yaml:6:1: error: fips: must be true or false, got 7\n"
            "/a/install-config.yaml has 1 error and 1 warning\n");
  EXPECT_EQ(status, 3);
}

TEST_F(ValidateTest, StrictCountsUnknownFieldsAsErrors) {
  ASSERT_TRUE(files.write("/a/install-config.yaml", fmt::format("{}publsh: x\n", good), only_mine).ok());
  ASSERT_TRUE(run({"validate", "--dir", "/a"}).ok());
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(run({"validate", "--dir", "/a", "--strict", "--output", "json"}).ok());
  EXPECT_EQ(status, 3);
  status = 0;
  EXPECT_TRUE(open_assets(environment(), "/a").ok());
  EXPECT_EQ(open_assets(environment(), "/a", true).error().code(), Code::invalid);
  EXPECT_EQ(status, 3);
}

TEST_F(ValidateTest, WithoutAConfigThereIsNothingToCheck) {
  const auto result = run({"validate", "--dir", "/a"});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("/a/install-config.yaml"), std::string::npos) << result.error().message();
  EXPECT_EQ(status, 3);
}

TEST_F(ValidateTest, ExplainPrintsOneThing) {
  EXPECT_FALSE(run({"explain"}).ok());
  EXPECT_FALSE(run({"explain", "installconfig", "--schema"}).ok());
  EXPECT_FALSE(run({"explain", "pod"}).ok());
  EXPECT_EQ(printed, "");
  ASSERT_TRUE(run({"explain", "--reference"}).ok());
  EXPECT_EQ(printed, config::install_config_reference());
  printed.clear();
  ASSERT_TRUE(run({"explain", "--schema"}).ok());
  EXPECT_EQ(printed, emit_json(config::install_config_json_schema(), JsonStyle::pretty));
  printed.clear();
  ASSERT_TRUE(run({"explain", "installconfig.fips"}).ok());
  EXPECT_NE(printed.find("FIELD: fips <boolean>"), std::string::npos) << printed;
}

}  // namespace
}  // namespace slipway::cli
