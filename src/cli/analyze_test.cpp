#include "cli/analyze.h"

#include "support/command_world.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

using AnalyzeTest = testing_support::CommandTest;

TEST_F(AnalyzeTest, PrintsFindingsAndHasAStatusForThem) {
  ASSERT_TRUE(
      files.write("/b/host/machines.jsonl", "{\"name\":\"m0\",\"state\":\"failed\",\"reason\":\"no disk\"}\n", 0600).ok());
  ASSERT_TRUE(run({"analyze", "/b"}).ok());
  EXPECT_EQ(status, 1);
  EXPECT_TRUE(printed.starts_with("machine-not-booted: m0 does not boot: no disk")) << printed;
  printed.clear();
  ASSERT_TRUE(run({"analyze", "/b", "--output", "json"}).ok());
  EXPECT_EQ(status, 1);
  const Result<Json> json = parse_json(printed, "x");
  ASSERT_TRUE(json.ok()) << printed;
  EXPECT_EQ(find_string(find_array(json.value(), {"findings"}).at(0), {"name"}), "machine-not-booted");
}

TEST_F(AnalyzeTest, PrintsTheChainOfTheBundle) {
  ASSERT_TRUE(
      files.write("/b/host/look.json", R"({"time":"2026-11-22T06:10:00Z","api":"silent","failure":"no route to host"})", 0600)
          .ok());
  ASSERT_TRUE(files.write("/b/host/machines.jsonl", "{\"name\":\"master-0\",\"state\":\"stopped\"}\n", 0600).ok());
  ASSERT_TRUE(run({"analyze", "/b"}).ok());
  EXPECT_EQ(status, 1);
  EXPECT_EQ(printed,
            "api: the API does not answer: no route to host\n"
            "  api: master-0 is off, so etcd has no majority\n"
            "    machine/master-0: machine master-0 is off\n"
            "what to do: start it: `slipway machine start master-0`\n");
  printed.clear();
  ASSERT_TRUE(run({"analyze", "/b", "--output", "json"}).ok());
  const Result<Json> json = parse_json(printed, "x");
  ASSERT_TRUE(json.ok()) << printed;
  EXPECT_TRUE(find_array(json.value(), {"findings"}).empty());
  const JsonArray& links = find_array(find_array(json.value(), {"chains"}).at(0), {"links"});
  EXPECT_EQ(find_string(links.at(2), {"name"}), "machine-off");
}

TEST_F(AnalyzeTest, SaysThatItFoundNothing) {
  ASSERT_TRUE(files.write("/b/host/machines.jsonl", "{\"name\":\"m0\",\"state\":\"running\"}\n", 0600).ok());
  ASSERT_TRUE(run({"analyze", "/b"}).ok());
  EXPECT_EQ(status, 0);
  EXPECT_EQ(printed, "No known fault found in /b.\n");
  printed.clear();
  ASSERT_TRUE(run({"analyze", "/b", "--output", "json"}).ok());
  EXPECT_EQ(status, 0);
  EXPECT_EQ(printed, "{\n  \"findings\": []\n}\n");
}

TEST_F(AnalyzeTest, TakesTheNewestBundleOfADirectory) {
  ASSERT_TRUE(files.write("/d/log-bundle-20261122060000.tar.gz", "older", 0600).ok());
  ASSERT_TRUE(files.write("/d/log-bundle-20261122061000.tar.gz", "newer", 0600).ok());
  ASSERT_TRUE(files.write("/d/install-config.yaml", "", 0600).ok());
  const Result<> broken = run({"analyze", "--dir", "/d"});
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message().find("/d/log-bundle-20261122061000.tar.gz: "), std::string::npos)
      << broken.error().message();
  const Result<> older = run({"analyze", "--dir", "/d", "--file", "log-bundle-20261122060000.tar.gz"});
  ASSERT_FALSE(older.ok());
  EXPECT_NE(older.error().message().find("/d/log-bundle-20261122060000.tar.gz: "), std::string::npos) << older.error().message();
}

TEST_F(AnalyzeTest, SaysWhatIsMissing) {
  ASSERT_TRUE(files.write("/d/install-config.yaml", "", 0600).ok());
  EXPECT_NE(run({"analyze", "--dir", "/d"}).error().message().find("slipway gather bootstrap --dir /d"), std::string::npos);
  EXPECT_NE(run({"analyze", "/d/none.tar.gz"}).error().message().find("/d/none.tar.gz: not found"), std::string::npos);
}

}  // namespace
}  // namespace slipway::cli
