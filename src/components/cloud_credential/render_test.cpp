#include "components/cloud_credential/render.h"

#include "base/yaml.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::components::cloud_credential {
namespace {

using testing_support::OperatorEnvironment;

std::string plan_of(std::string_view install_config) {
  const auto plan = plan_credentials(parse_yaml(install_config, "install-config").value().value);
  if (!plan.ok()) return plan.error().message();
  return (plan->enabled ? "on " : "off ") + plan->mode;
}

TEST(CredentialsPlan, FollowsModeAndCapability) {
  EXPECT_EQ(plan_of("{}"), "on ");
  EXPECT_EQ(plan_of("credentialsMode: Manual"), "on Manual");
  EXPECT_EQ(plan_of("capabilities: {baselineCapabilitySet: None}"), "off ");
  EXPECT_EQ(plan_of("capabilities: {baselineCapabilitySet: v4.14, additionalEnabledCapabilities: [Build, CloudCredential]}"),
            "on ");
  EXPECT_EQ(plan_of("capabilities: {baselineCapabilitySet: v4.18}"), "on ");
  EXPECT_EQ(plan_of("credentialsMode: Mint"),
            "install-config: credentialsMode: must be Manual, got Mint, because this release creates no credentials");
  EXPECT_EQ(plan_of("{credentialsMode: Mint, capabilities: {baselineCapabilitySet: None}}"), "off Mint");
}

constexpr std::string_view crd = "/usr/share/bootkube/manifests/manifests/0000_40_cloud-credential_00_cloudcredentials.crd.yaml";

Result<> render(OperatorEnvironment& world, std::string_view install_config) {
  world.put(std::string(crd), "kind: CustomResourceDefinition\n");
  world.put("/manifests/broken.txt", "a: b: c");
  const Json map = {{"kind", "ConfigMap"},
                    {"metadata", {{"name", "cluster-config-v1"}, {"namespace", "kube-system"}}},
                    {"data", {{"install-config", install_config}}}};
  world.put("/manifests/cluster-config.yaml", emit_yaml(map));
  return run_render(world.environment(),
                    {"--dest-dir=/out", "--manifests-dir=/manifests", "--cloud-credential-operator-image=i"});
}

TEST(CredentialsRender, WritesTheApiAndTheMode) {
  OperatorEnvironment world;
  const Result<> done = render(world, "credentialsMode: Manual");
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(world.names("/out"),
            (std::vector<std::string>{"manifests/cco-cloudcredential_v1_credentialsrequest_crd.yaml",
                                      "manifests/cco-cloudcredential_v1_operator_config_custresdef.yaml",
                                      "manifests/cco-namespace.yaml", "manifests/cco-operator-config.yaml"}));
  EXPECT_TRUE(world.files.info("/out/bootstrap-manifests").value().has_value());
  const auto config = parse_yaml(world.text("/out/manifests/cco-operator-config.yaml"), "x");
  EXPECT_EQ(find_string(config.value().value, {"spec", "credentialsMode"}), "Manual");
}

TEST(CredentialsRender, WritesNothingWithoutTheCapability) {
  OperatorEnvironment world;
  ASSERT_TRUE(render(world, "capabilities: {baselineCapabilitySet: None}").ok());
  EXPECT_FALSE(world.files.info("/out").value().has_value());
}

TEST(CredentialsRender, NeedsTheInstallConfig) {
  OperatorEnvironment world;
  world.put("/manifests/x.yaml", "kind: Secret");
  const Result<> done =
      run_render(world.environment(), {"--dest-dir=/out", "--manifests-dir=/manifests", "--cloud-credential-operator-image=i"});
  EXPECT_EQ(done.error().message(),
            "/manifests: ConfigMap kube-system/cluster-config-v1 not found (the installer writes cluster-config.yaml)");
}

}  // namespace
}  // namespace slipway::components::cloud_credential
