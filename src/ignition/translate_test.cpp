#include "ignition/translate.h"

#include "ignition/parse.h"
#include "ignition/validate.h"
#include "support/arbitrary_ignition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace slipway::ignition {
namespace {

// A config for each feature after 3.0. The configs are built in code: reading would drop fields that the version does not have.
struct Case {
  const char* field;
  Version since;
  void (*set)(Config&);
};
const Case cases[] = {
    {"ignition.config.merge[0].compression", Version::v3_1,
     [](Config& c) { c.ignition.config.merge = {{.source = "http://h", .compression = ""}}; }},
    {"ignition.config.replace.compression", Version::v3_1, [](Config& c) { c.ignition.config.replace.compression = "gzip"; }},
    {"ignition.security.tls.certificateAuthorities[0].compression", Version::v3_1,
     [](Config& c) { c.ignition.security.tls.certificate_authorities = {{.source = "http://h", .compression = "gzip"}}; }},
    {"ignition.config.replace.httpHeaders", Version::v3_1,
     [](Config& c) { c.ignition.config.replace = {.source = "http://h", .http_headers = {{.name = "X"}}}; }},
    {"storage.files[0].contents.verification.hash", Version::v3_1,
     [](Config& c) {
       c.storage.files = {{.path = "/a", .contents = {.source = "data:,", .verification = {.hash = "sha256-0"}}}};
     }},
    {"ignition.proxy", Version::v3_1, [](Config& c) { c.ignition.proxy.no_proxy = {"a"}; }},
    {"storage.filesystems[0].mountOptions", Version::v3_1,
     [](Config& c) { c.storage.filesystems = {{.device = "/d", .mount_options = {"x"}}}; }},
    {"storage.disks[0].partitions[0].resize", Version::v3_2,
     [](Config& c) { c.storage.disks = {{.device = "/d", .partitions = {{.number = 1, .resize = false}}}}; }},
    {"storage.luks", Version::v3_2, [](Config& c) { c.storage.luks = {{.name = "l", .device = "/d"}}; }},
    {"passwd.users[0].shouldExist", Version::v3_2, [](Config& c) { c.passwd.users = {{.name = "u", .should_exist = true}}; }},
    {"passwd.groups[0].shouldExist", Version::v3_2, [](Config& c) { c.passwd.groups = {{.name = "g", .should_exist = false}}; }},
    {"storage.files[0].append[0].source", Version::v3_2,
     [](Config& c) { c.storage.files = {{.path = "/a", .append = {{.source = "GS://b/k"}}}}; }},
    {"kernelArguments", Version::v3_3, [](Config& c) { c.kernel_arguments.should_exist = {"a"}; }},
    {"storage.filesystems[0].format", Version::v3_3,
     [](Config& c) { c.storage.filesystems = {{.device = "/d", .format = "none"}}; }},
    {"storage.luks[0].openOptions", Version::v3_4, [](Config& c) { c.storage.luks = {{.name = "l", .open_options = {"a"}}}; }},
    {"storage.luks[0].discard", Version::v3_4, [](Config& c) { c.storage.luks = {{.name = "l", .discard = true}}; }},
    {"storage.luks[0].clevis.tang[0].advertisement", Version::v3_4,
     [](Config& c) { c.storage.luks = {{.name = "l", .clevis = {.tang = {{.url = "http://t", .advertisement = "{}"}}}}}; }},
    {"storage.files[0].contents.source", Version::v3_4,
     [](Config& c) { c.storage.files = {{.path = "/a", .contents = {.source = "arn:aws:s3:::b/k"}}}; }},
    {"storage.files[0].mode", Version::v3_4, [](Config& c) { c.storage.files = {{.path = "/a", .mode = 04755}}; }},
    {"storage.directories[0].mode", Version::v3_4, [](Config& c) { c.storage.directories = {{.path = "/a", .mode = 01777}}; }},
    {"storage.luks[0].cex", Version::v3_5, [](Config& c) { c.storage.luks = {{.name = "l", .cex = {.enabled = false}}}; }},
};

TEST(TranslateConfig, RejectsFeaturesThatTheOlderVersionDoesNotHave) {
  for (const Case& c : cases) {
    Config config{.ignition = {.version = newest_version}};
    c.set(config);
    for (int minor = 0; minor <= static_cast<int>(newest_version); ++minor) {
      const Version target = static_cast<Version>(minor);
      // LUKS devices require 3.2. Below that, the feature is storage.luks and not one of its fields.
      const bool whole = target < Version::v3_2 && std::string_view(c.field).starts_with("storage.luks");
      const auto features = features_after(config, target);
      ASSERT_EQ(features.size(), target < c.since ? 1u : 0u) << c.field << " for " << to_string(target);
      EXPECT_EQ(translate(config, target).ok(), target >= c.since);
      for (const Feature& feature : features) EXPECT_EQ(feature.field, whole ? "storage.luks" : c.field);
    }
  }
}

TEST(TranslateConfig, ReportsAllFeaturesThatCannotBeExpressed) {
  Config config{.ignition = {.version = Version::v3_4}};
  config.kernel_arguments.should_exist = {"a"};
  config.storage.luks = {{.name = "l", .device = "/d", .discard = true}};
  config.storage.files = {{.path = "/a", .mode = 04755}};
  EXPECT_EQ(translate(config, Version::v3_2).error().message(),
            "this config of spec 3.4.0 cannot be expressed in 3.2.0:\n"
            "kernelArguments: this field requires spec 3.3.0\n"
            "storage.luks[0].discard: this field requires spec 3.4.0\n"
            "storage.files[0].mode: setuid, setgid or sticky requires spec 3.4.0");
}

TEST(TranslateConfig, KeepsFeaturesWithoutEffect) {
  Config config{.ignition = {.version = Version::v3_3}};
  config.storage.files = {{.path = "/a", .mode = 04755}};
  const auto older = translate(config, Version::v3_1);
  ASSERT_TRUE(older.ok());
  EXPECT_EQ(older->storage, config.storage);
}

TEST(RaiseConfig, DoesNotActivateSpecialBits) {
  Config config{.ignition = {.version = Version::v3_3}};
  config.storage.files = {{.path = "/a", .mode = 04755}, {.path = "/b"}};
  config.storage.directories = {{.path = "/c", .mode = 01777}};
  const Config raised = raise(config, Version::v3_4);
  EXPECT_EQ(raised.storage.files[0].mode, 0755);
  EXPECT_EQ(raised.storage.directories[0].mode, 0777);
  EXPECT_EQ(raised.ignition.version, Version::v3_4);
}

RC_GTEST_PROP(TranslateProperty, LosesNothingInAnOlderVersion, ()) {
  const Config config = *testing_support::arbitrary_ignition({.kinds_change = true});
  const Version target = static_cast<Version>(*rc::gen::inRange(0, static_cast<int>(newest_version) + 1));
  const auto older = translate(config, target);
  RC_ASSERT(older.ok() == features_after(config, target).empty());
  if (!older.ok()) return;
  const Parsed read = parse(to_json(older.value()));
  RC_ASSERT(read.findings.empty());
  RC_ASSERT(!validate(read.config).has_errors());
  RC_ASSERT(raise(read.config, newest_version) == config);
}

}  // namespace
}  // namespace slipway::ignition
