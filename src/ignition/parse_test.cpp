#include "ignition/parse.h"

#include "ignition/validate.h"
#include "support/arbitrary_ignition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace slipway::ignition {
namespace {

// Every field of the newest spec, in the order of to_json().
constexpr std::string_view everything =
    R"({"ignition":{"version":"3.5.0","config":{"merge":[{"source":"http://a","compression":"gzip",)"
    R"("httpHeaders":[{"name":"X","value":"1"}],)"
    R"("verification":{"hash":"sha256-0"}}],"replace":{"source":"b"}},"timeouts":{"httpResponseHeaders":1,"httpTotal":2},)"
    R"("security":{"tls":{"certificateAuthorities":[{"source":"c"}]}},"proxy":{"httpProxy":"d","httpsProxy":"e",)"
    R"("noProxy":["f"]}},)"
    R"("kernelArguments":{"shouldExist":["a"],"shouldNotExist":["b"]},)"
    R"("passwd":{"users":[{"name":"u","passwordHash":"p","sshAuthorizedKeys":["k"],"uid":1,"gecos":"g","homeDir":"/h",)"
    R"("noCreateHome":true,)"
    R"("primaryGroup":"p","groups":["g"],"noUserGroup":false,"noLogInit":true,"shell":"/s","shouldExist":true,"system":false}],)"
    R"("groups":[{"name":"g","gid":2,"passwordHash":"","shouldExist":false,"system":true}]},)"
    R"("storage":{"disks":[{"device":"/d","wipeTable":true,"partitions":[{"number":1,"label":"l","sizeMiB":2,"startMiB":3,)"
    R"("typeGuid":"t",)"
    R"("guid":"g","resize":true,"shouldExist":true,"wipePartitionEntry":false}]}],)"
    R"("raid":[{"name":"r","level":"1","devices":["/a"],"spares":0,"options":["o"]}],)"
    R"("luks":[{"name":"l","device":"/d","keyFile":{"source":"k"},"label":"x","uuid":"y","options":["o"],)"
    R"("openOptions":["p"],"discard":true,)"
    R"("wipeVolume":true,"clevis":{"tang":[{"url":"u","thumbprint":"t","advertisement":"{}"}],"tpm2":true,"threshold":1,)"
    R"("custom":{"pin":"p","config":"c","needsNetwork":false}},"cex":{"enabled":true}}],)"
    R"("filesystems":[{"device":"/d","format":"xfs","path":"/p","label":"l","uuid":"u","wipeFilesystem":true,)"
    R"("options":["o"],"mountOptions":["m"]}],)"
    R"("directories":[{"path":"/d","overwrite":true,"mode":493,"user":{"id":1},"group":{"name":"g"}}],)"
    R"("files":[{"path":"/f","overwrite":false,"mode":420,"user":{"name":"u"},"group":{"id":0},"contents":{"source":"data:,)"
    R"("},"append":[{"source":"x"}]}],)"
    R"("links":[{"path":"/l","overwrite":true,"target":"t","hard":false,"user":{"id":1},"group":{"id":2}}]},)"
    R"("systemd":{"units":[{"name":"u","enabled":true,"mask":false,"contents":"c","dropins":[{"name":"d","contents":"e"}]}]}})";

TEST(ParseConfig, ReadsAndWritesEveryField) {
  const auto parsed = parse_text(everything, "all");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->findings.to_text(), "");
  EXPECT_EQ(emit_json(to_json(parsed->config), JsonStyle::compact), everything);
}

TEST(ParseConfig, DoesNotWriteAbsentFields) {
  const auto parsed = parse_text(R"({"storage":{"files":[{"contents":{},"path":"/a","mode":null}],"links":[]},"passwd":{},)"
                                 R"("ignition":{"version":"3.0.0","security":{"tls":{}}}})",
                                 "f");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->findings.to_text(), "");
  EXPECT_EQ(emit_json(to_json(parsed->config), JsonStyle::compact),
            R"({"ignition":{"version":"3.0.0"},"storage":{"files":[{"path":"/a"}]}})");
}

TEST(ParseConfig, ReportsEveryProblemWithItsPlace) {
  const auto parsed = parse_text(R"({
  "ignition": {"version": "3.1.0", "config": {"merged": []}},
  "storage": {
    "files": [
      {"path": "/a", "mode": "0644", "Contents": {}},
      {"path": ["/b"], "mode": 1.5, "user": 0},
      null
    ],
    "luks": [7]
  },
  "systemd": {"units": {"name": "a.service"}},
  "a.b": 1
})",
                                 "a.ign");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->findings.to_text(),
            "a.ign:2:47: warning: ignition.config.merged: unknown key, no effect (did you mean 'merge'?)\n"
            "a.ign:5:22: error: storage.files[0].mode: must be an integer, got a string\n"
            "a.ign:5:38: warning: storage.files[0].Contents: unknown key, no effect (did you mean 'contents'?)\n"
            "a.ign:6:8: error: storage.files[1].path: must be a string, got a list\n"
            "a.ign:6:24: error: storage.files[1].mode: must be a 64-bit integer, got 1.5\n"
            "a.ign:6:37: error: storage.files[1].user: must be an object, got a number\n"
            "a.ign:7:7: error: storage.files[2]: must be an object, got null\n"
            "a.ign:9:5: warning: storage.luks: requires spec 3.2.0, ignored in a config of 3.1.0 (set "
            "ignition.version to 3.2.0)\n"
            "a.ign:11:15: error: systemd.units: must be a list, got an object\n"
            "a.ign:12:3: warning: [\"a.b\"]: unknown key, no effect\n");
}

TEST(ParseConfig, NeedsAVersion) {
  struct Case {
    const char* text;
    const char* findings;
  };
  const Case cases[] = {
      {"{}", "f:1:1: error: ignition.version: missing, must be a version of the spec (for example 3.2.0)\n"},
      {R"({"ignition":{"version":null}})",
       "f:1:14: error: ignition.version: missing, must be a version of the spec (for example 3.2.0)\n"},
      {R"({"ignition":{"version":3}})", "f:1:14: error: ignition.version: must be a string, got a number\n"},
      {R"({"ignition":{"version":"2.2.0"}})",
       "f:1:14: error: ignition.version: unsupported version '2.2.0' (use one of 3.0.0 to 3.5.0)\n"},
      {R"({"ignition":{"version":"3.6.0"}})",
       "f:1:14: error: ignition.version: unsupported version '3.6.0' (use one of 3.0.0 to 3.5.0)\n"},
      {"[]", "f:1:1: error: must be an object, got a list\n"},
  };
  for (const Case& c : cases) {
    const auto parsed = parse_text(c.text, "f");
    ASSERT_TRUE(parsed.ok()) << c.text;
    EXPECT_EQ(parsed->findings.to_text(), c.findings) << c.text;
  }
}

TEST(ParseConfig, RejectsInvalidJson) {
  EXPECT_EQ(parse_text(R"({"ignition":)", "f").error().code(), Code::invalid);
  EXPECT_EQ(parse_text(R"({"ignition":{"version":"3.0.0"},"ignition":{}})", "f").error().code(), Code::invalid);
}

TEST(ParseConfig, ReadsAConfigInsideADocument) {
  const Parsed parsed = parse({{"ignition", {{"version", "3.2.0"}}}, {"storage", 1}}, "spec.config");
  EXPECT_EQ(parsed.findings.to_text(), "error: spec.config.storage: must be an object, got a number\n");
}

TEST(ParseConfig, FallsBackToTheNameIfTheTextHasNoPlaces) {
  // A key that is too long for YAML.
  const std::string key(1100, 'x');
  const auto parsed = parse_text(R"({"ignition":{"version":"3.2.0"},")" + key + R"(":1})", "f");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->findings.to_text(), "f: warning: " + key + ": unknown key, no effect\n");
}

RC_GTEST_PROP(ParseConfigProperty, ReadsBackWhatItWrites, ()) {
  const Config config = *testing_support::arbitrary_ignition({.kinds_change = true});
  const auto parsed = read_config(emit_json(to_json(config), JsonStyle::pretty), "f");
  RC_ASSERT(parsed.ok());
  RC_ASSERT(parsed->config == config);
}

}  // namespace
}  // namespace slipway::ignition
