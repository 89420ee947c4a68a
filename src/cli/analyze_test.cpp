#include "cli/analyze.h"

#include "cli/parse.h"

#include "net/curl_http.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

class AnalyzeTest : public testing::Test {
 protected:
  Result<> run(const std::vector<std::string>& argv) {
    const Parsed parsed = parse("slipway", argv, commands());
    if (!parsed.invocation) return error(Code::invalid, "{}", parsed.text);
    printed.clear();
    status = 0;
    const Environment environment{{context_, files, runner_, random_, http_, [this](std::string_view text) { printed += text; }},
                                  status};
    return parsed.invocation->command->run(environment, parsed.invocation->arguments);
  }

  testing_support::MemoryFiles files;
  testing_support::TestContext test;
  std::string printed;
  int status = 0;

 private:
  sys::Context context_ = test.context();
  sys::RealRunner runner_;
  testing_support::SeededRandom random_{1};
  net::CurlHttp http_;
};

TEST_F(AnalyzeTest, PrintsFindingsAndHasAStatusForThem) {
  ASSERT_TRUE(
      files.write("/b/host/machines.jsonl", "{\"name\":\"m0\",\"state\":\"failed\",\"reason\":\"no disk\"}\n", 0600).ok());
  ASSERT_TRUE(run({"analyze", "/b"}).ok());
  EXPECT_EQ(status, 1);
  EXPECT_TRUE(printed.starts_with("machine-not-booted: m0 does not boot: no disk")) << printed;
  ASSERT_TRUE(run({"analyze", "/b", "--output", "json"}).ok());
  EXPECT_EQ(status, 1);
  const Result<Json> json = parse_json(printed, "x");
  ASSERT_TRUE(json.ok()) << printed;
  EXPECT_EQ(find_string(find_array(json.value(), {"findings"}).at(0), {"name"}), "machine-not-booted");
}

TEST_F(AnalyzeTest, SaysThatItFoundNothing) {
  ASSERT_TRUE(files.write("/b/host/machines.jsonl", "{\"name\":\"m0\",\"state\":\"running\"}\n", 0600).ok());
  ASSERT_TRUE(run({"analyze", "/b"}).ok());
  EXPECT_EQ(status, 0);
  EXPECT_EQ(printed, "No fault is known in /b.\n");
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
}

TEST_F(AnalyzeTest, SaysWhatIsMissing) {
  ASSERT_TRUE(files.write("/d/install-config.yaml", "", 0600).ok());
  EXPECT_NE(run({"analyze", "--dir", "/d"}).error().message().find("slipway gather bootstrap --dir /d"), std::string::npos);
  EXPECT_NE(run({"analyze", "/d/none.tar.gz"}).error().message().find("/d/none.tar.gz is not there"), std::string::npos);
}

}  // namespace
}  // namespace slipway::cli
