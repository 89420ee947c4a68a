#include "components/config_operator/api_render.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::components::config_operator {
namespace {

using testing_support::OperatorEnvironment;

std::string crd(std::string_view annotations) {
  return fmt::format(
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations: {{{}}}\n  name: x\n",
      annotations);
}

constexpr std::string_view required = "release.openshift.io/bootstrap-required: 'true'";
constexpr std::string_view included = "include.release.openshift.io/self-managed-high-availability: 'true'";

TEST(ConfigApiRender, CompletesTheGateAndCopiesCrds) {
  OperatorEnvironment world;
  world.put("/image/featuregates/default.yaml",
            "metadata: {annotations: {include.release.openshift.io/self-managed-high-availability: x, "
            "release.openshift.io/feature-set: Default}}\nstatus: {featureGates: [{enabled: [{name: A}], disabled: []}]}\n");
  world.put("/image/manifests/a.crd.yaml", crd(fmt::format("{}, {}", required, included)));
  world.put("/image/manifests/b.crd.yaml", crd(included));
  world.put("/image/manifests/c.crd.yaml", crd(required));
  world.put("/image/manifests/d.crd.yaml",
            crd(fmt::format("{}, {}, release.openshift.io/feature-set: TechPreviewNoUpgrade", required, included)));
  world.put(
      "/assets/manifests/99_feature-gate.yaml",
      "apiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata: {name: cluster, creationTimestamp: null}\nspec: {}\n");
  world.put("/assets/manifests/notes.txt", "a: b: c");
  const Result<> done =
      run_api_render(world.environment(), {"--asset-output-dir=/out", "--rendered-manifest-dir=/assets/manifests",
                                           "--payload-version=0.1.0", "--image-manifests=/image/manifests"});
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(world.names("/out"), std::vector<std::string>{"manifests/a.crd.yaml"});
  EXPECT_EQ(world.text("/out/manifests/a.crd.yaml"), world.text("/image/manifests/a.crd.yaml"));
  const auto gate = parse_json(world.text("/assets/manifests/99_feature-gate.yaml"), "gate");
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(emit_json(*find(gate.value(), {"status"}), JsonStyle::compact),
            R"({"featureGates":[{"version":"0.1.0","enabled":[{"name":"A"}],"disabled":[]}]})");
  EXPECT_EQ(world.test.logged().at(0).substr(0, 27), "warning: skipping notes.txt");
}

TEST(ConfigApiRender, NeedsAFeatureGateAndAVersion) {
  OperatorEnvironment world;
  world.put("/image/featuregates/default.yaml", "{}");
  world.put("/image/manifests/a.crd.yaml", crd(included));
  world.put("/assets/x.yaml", "{}");
  const auto run = [&](const std::string& version) {
    return run_api_render(world.environment(), {"--asset-output-dir=/out", "--rendered-manifest-dir=/assets",
                                                "--payload-version=" + version, "--image-manifests=/image/manifests"})
        .error()
        .message();
  };
  EXPECT_EQ(run("4.18"), "/assets: no FeatureGate found (the installer writes 99_feature-gate.yaml)");
  EXPECT_EQ(run("abc"), "--payload-version: 'abc' is not a version, for example 4.18.3");
}

}  // namespace
}  // namespace slipway::components::config_operator
