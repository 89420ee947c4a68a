#include "components/config_operator/operator_render.h"

#include "base/yaml.h"
#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::components::config_operator {
namespace {

using testing_support::OperatorEnvironment;

TEST(ConfigOperatorRender, RenamesTheKeyOfTheCloudConfig) {
  OperatorEnvironment world;
  world.put("/infra.yml", "spec: {cloudConfig: {key: config, name: cloud-provider-config}}");
  world.put("/given.yaml", "kind: ConfigMap\ndata: {config: '[Global]', ca-bundle.pem: PEM}");
  const Arguments common = {"--asset-input-dir=/tls",
                            "--asset-output-dir=/out",
                            "--config-output-file=/out/config",
                            "--skip-api-rendering",
                            "--cluster-infrastructure-input-file=/infra.yml",
                            "--cloud-provider-config-output-file=/out/cloud.yaml"};
  ASSERT_TRUE(run_operator_render(world.environment(), common).ok());
  EXPECT_EQ(world.text("/out/cloud.yaml"), "metadata:\n  name: kube-cloud-config\n  namespace: openshift-config-managed\n");
  EXPECT_TRUE(world.files.info("/out/manifests").value().has_value());

  Arguments with_config = common;
  with_config.push_back("--cloud-provider-config-input-file=/given.yaml");
  ASSERT_TRUE(run_operator_render(world.environment(), with_config).ok());
  const Json map = parse_yaml(world.text("/out/cloud.yaml"), "cloud").value().value;
  EXPECT_EQ(emit_json(*find(map, {"data"}), JsonStyle::compact), R"({"cloud.conf":"[Global]","ca-bundle.pem":"PEM"})");
}

}  // namespace
}  // namespace slipway::components::config_operator
