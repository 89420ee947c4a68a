#include "ignition/validate.h"

#include <gtest/gtest.h>

namespace slipway::ignition {
namespace {

// tests/component/ignition/cases has a case for every rule, with the exact text of the findings, and compares the results with
// Ignition's validator. The tests here cover what that validator cannot check.

TEST(ValidateConfig, ReportsAllFindingsWithPlaces) {
  const auto read = read_config(R"({
  "ignition": {"version": "3.2.0"},
  "storage": {"files": [
    {"path": "etc/a", "mode": 4096},
    {"path": "/b", "overwrite": true, "colour": 1}
  ]}
})",
                                "a.ign");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message(),
            "a.ign:4:6: error: storage.files[0].path: 'etc/a' is not an absolute path ('/etc/a'?)\n"
            "a.ign:4:23: error: storage.files[0].mode: must be 0 to 4095, got 4096 (use decimal numbers: 0644 is 420)\n"
            "a.ign:5:20: error: storage.files[1].overwrite: requires contents.source (\"data:,\" is "
            "the empty file)\n"
            "a.ign:5:39: warning: storage.files[1].colour: unknown key, no effect");
}

TEST(ValidateConfig, ReturnsWarningsWithTheConfig) {
  const auto read =
      read_config(R"({"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/a", "mode": 2541}]}})", "f");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->findings.to_text(),
            "f:1:73: warning: storage.files[0].mode: setuid, setgid or sticky requires spec 3.4.0, but this config has 3.2.0 "
            "(set ignition.version to 3.4.0)\n");
}

TEST(ValidateConfig, ReportsFieldsThatTheVersionDoesNotHave) {
  Config config{.ignition = {.version = Version::v3_1}};
  config.kernel_arguments.should_exist = {"a"};
  EXPECT_EQ(validate(config, "spec.config").to_text(),
            "error: spec.config.kernelArguments: this field requires spec 3.3.0, but this config has 3.1.0 (set "
            "ignition.version to 3.3.0)\n");
}

// Ignition's validator in tests/component/ignition does not know these versions.
TEST(ValidateConfig, KnowsSpec34And35) {
  struct Case {
    const char* luks;
    const char* findings;
  };
  const Case cases[] = {
      {R"({"name":"a","device":"/d","discard":true,"openOptions":["x"],"cex":{"enabled":true}})", ""},
      {R"({"name":"a","device":"/d","keyFile":{"source":"arn:aws:s3:::bucket/key"}})", ""},
      {R"({"name":"a","device":"/d","keyFile":{"source":"arn:aws:s3:us:1:accesspoint/point/key?versionId=1"}})", ""},
      {R"({"name":"a","device":"/d","cex":{"enabled":true},"clevis":{"tpm2":true},"keyFile":{"source":"data:,k"}})",
       "error: storage.luks[0].cex: cannot be used with clevis\nerror: storage.luks[0].cex: cannot be used with keyFile\n"},
      {R"({"name":"a","device":"/d","clevis":{"tang":[{"url":"http://t","thumbprint":"x","advertisement":"{"}]}})",
       "error: storage.luks[0].clevis.tang[0].advertisement: is not JSON: advertisement:1:2: unexpected end of the document\n"},
      {R"({"name":"a","device":"/d","keyFile":{"source":"arn:aws:ec2:::b/k"}})",
       "error: storage.luks[0].keyFile.source: cannot be fetched: an arn must be 'arn:PARTITION:s3:REGION:ACCOUNT:BUCKET/KEY'\n"},
      {R"({"name":"a","device":"/d","keyFile":{"source":"arn:aws:s3:us:1:accesspoint/point"}})",
       "error: storage.luks[0].keyFile.source: cannot be fetched: an arn must be 'arn:PARTITION:s3:REGION:ACCOUNT:BUCKET/KEY'\n"},
      {R"({"name":"a","device":"/d","keyFile":{"source":"arn:aws:s3:::b/k?versionId="}})",
       "error: storage.luks[0].keyFile.source: cannot be fetched: versionId is empty\n"},
  };
  for (const Case& c : cases) {
    const auto parsed = parse_text(fmt::format(R"({{"ignition":{{"version":"3.5.0"}},"storage":{{"luks":[{}]}}}})", c.luks), "f");
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->findings.to_text(), "");
    EXPECT_EQ(validate(parsed->config).to_text(), c.findings) << c.luks;
  }
}

}  // namespace
}  // namespace slipway::ignition
