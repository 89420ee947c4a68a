#include "machineconfig/types.h"

#include "machineconfig/labels.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

Json object(JsonObject spec) {
  return {{"apiVersion", api_version},
          {"kind", "MachineConfig"},
          {"metadata", {{"name", "99-motd"}, {"labels", {{role_label, "worker"}}}}},
          {"spec", std::move(spec)}};
}

TEST(ParseMachineConfig, ReadsBackWhatWasWritten) {
  MachineConfig config{.name = "50-x", .labels = {{std::string(role_label), "master"}}, .annotations = {{"a", "b"}}};
  config.config.ignition.version = ignition::Version::v3_2;
  config.config.storage.files.push_back({.path = "/etc/motd", .mode = 0644, .contents = {.source = "data:,hello"}});
  config.os_image_url = "r.example.com/os@sha256:1";
  config.kernel_arguments = {"quiet", "quiet"};
  config.extensions = {"usbguard"};
  config.kernel_type = "realtime";
  config.fips = true;
  const Result<MachineConfig> read = parse_machine_config(to_json(config), "x");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read.value(), config);
  EXPECT_EQ(read->role(), "master");
}

TEST(ParseMachineConfig, TakesOneWithoutAConfigAndNoneWithAnEmptyOne) {
  EXPECT_TRUE(parse_machine_config(object({{"kernelArguments", {"quiet"}}}), "x").ok());
  EXPECT_EQ(parse_machine_config(object({{"config", JsonObject()}}), "x").error().code(), Code::invalid);
}

TEST(ParseMachineConfig, NamesEveryProblem) {
  const Json bad = object(
      {{"kernelType", "fast"},
       {"fips", "yes"},
       {"extensions", {"emacs"}},
       {"config",
        {{"ignition", {{"version", "3.2.0"}}}, {"storage", {{"files", {{{"path", "/a"}, {"mode", 04755}}, {{"path", "b"}}}}}}}}});
  const std::string message = parse_machine_config(bad, "user.yaml").error().message();
  for (const char* part : {"user.yaml", "spec.kernelType", "spec.fips", "emacs", "spec.config.storage.files[0].mode",
                           "spec.config.storage.files[1].path"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in:\n" << message;
  }
}

TEST(ParsePool, ReadsBothFormsOfSelectors) {
  struct Case {
    Json selector;
    std::vector<std::string> roles;  // empty: refused
  };
  const Json in = {{"key", role_label}, {"operator", "In"}, {"values", {"worker", "infra"}}};
  const Json exists = {{"key", role_label}, {"operator", "Exists"}};
  for (const Case& c :
       {Case{{{"matchLabels", {{role_label, "master"}}}}, {"master"}},
        Case{{{"matchExpressions", JsonArray{in}}}, {"worker", "infra"}}, Case{{{"matchExpressions", JsonArray{exists}}}, {}},
        Case{{{"matchLabels", {{"other", "x"}}}}, {}}, Case{JsonObject(), {}}}) {
    const Json pool = {{"metadata", {{"name", "infra"}}}, {"spec", {{"machineConfigSelector", c.selector}}}};
    const Result<Pool> read = parse_pool(pool, "pool.yaml");
    EXPECT_EQ(read.ok() ? read->roles : std::vector<std::string>(), c.roles);
  }
}

}  // namespace
}  // namespace slipway::machineconfig
