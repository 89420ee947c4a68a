#include "components/cluster_version/render.h"

#include "base/yaml.h"
#include "components/cluster_version/release_manifests.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_version {
namespace {

using testing_support::OperatorEnvironment;

constexpr std::string_view include = "include.release.openshift.io/self-managed-high-availability: 'true'";

void put_image(OperatorEnvironment& world) {
  world.put("/release-manifests/release-metadata", R"({"kind":"cincinnati-metadata-v0","version":"0.1.0"})");
  world.put("/release-manifests/image-references",
            R"({"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"0.1.0"},"spec":{"tags":[]}})");
  world.put("/manifests/0000_00_cluster-version-operator_01_a.crd.yaml",
            fmt::format("apiVersion: v1\nkind: C\nmetadata: {{name: a, annotations: {{{}}}}}\n", include));
  world.put(
      "/manifests/0000_00_cluster-version-operator_01_b.crd.yaml",
      fmt::format("apiVersion: v1\nkind: C\nmetadata: {{name: b, annotations: {{{}, release.openshift.io/feature-set: X}}}}\n",
                  include));
}

TEST(VersionRender, WritesItsManifestsAndItsPod) {
  OperatorEnvironment world;
  put_image(world);
  world.put("/assets/manifests/99_feature-gate.yaml", "spec: {}");
  world.put("/assets/manifests/cluster-infrastructure-02-config.yml",
            "status: {apiServerInternalURI: 'https://api-int.demo.example.com:6443'}");
  const Result<> done = run_render(world.environment(), {"--output-dir=/out", "--release-image=r.example.com/r@sha256:1",
                                                         "--feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml"});
  ASSERT_TRUE(done.ok()) << done.error().message();
  const std::string prefix = "manifests/0000_00_cluster-version-operator_";
  EXPECT_EQ(world.names("/out"),
            (std::vector<std::string>{
                "bootstrap/bootstrap-pod.yaml", prefix + "00_namespace.yaml", prefix + "01_a.crd.yaml",
                prefix + "01_adminack_configmap.yaml", prefix + "01_admingate_configmap.yaml",
                prefix + "02_service_account-cluster-version-operator.yaml", prefix + "02_service_account-update-payload.yaml",
                prefix + "03_roles-cluster-version-operator.yaml", prefix + "30_deployment.yaml", prefix + "40_service.yaml"}));
  const Json deployment = parse_yaml(world.text("/out/" + prefix + "30_deployment.yaml"), "x").value().value;
  const Json& container = find_array(deployment, {"spec", "template", "spec", "containers"}).at(0);
  EXPECT_EQ(find_string(container, {"image"}), "r.example.com/r@sha256:1");
  EXPECT_EQ(find_string(find_array(container, {"env"}).at(0), {"value"}), "api-int.demo.example.com");
  const Json pod = parse_yaml(world.text("/out/bootstrap/bootstrap-pod.yaml"), "x").value().value;
  EXPECT_EQ(find_string(pod, {"metadata", "name"}), "bootstrap-cluster-version-operator");
}

TEST(VersionRender, NamesTheMissingFile) {
  OperatorEnvironment world;
  put_image(world);
  const Result<> done = run_render(
      world.environment(), {"--output-dir=/out", "--release-image=r", "--feature-gate-manifest-path=/none/99_feature-gate.yaml"});
  EXPECT_EQ(done.error().message(),
            "--feature-gate-manifest-path: reading /none/99_feature-gate.yaml: No such file or directory");
}

TEST(KeepApplicable, DropsDocumentsAndFiles) {
  const ManifestFilter filter;
  const std::string both =
      fmt::format("# kept\nmetadata: {{annotations: {{{}}}}}\n---\nmetadata: {{annotations: {{{}}}}}\n", include, include);
  const auto kept = keep_applicable({{"both", both}, {"none", "metadata: {}"}, {"one", both + "---\nkind: X\n"}}, filter);
  ASSERT_TRUE(kept.ok());
  ASSERT_EQ(kept->size(), 2u);
  EXPECT_EQ(kept->at(0).content, both);
  EXPECT_EQ(parse_yaml_documents(kept->at(1).content, "one")->size(), 2u);
}

TEST(FilterOfACluster, FollowsItsFeatureGateAndCapabilities) {
  const Json gate =
      parse_yaml(
          "spec: {featureSet: TechPreviewNoUpgrade}\nstatus: {featureGates: [{version: '1', enabled: [{name: Old}]}, "
          "{version: '2', enabled: [{name: New}]}]}",
          "gate")
          .value()
          .value;
  const Json version =
      parse_yaml("spec: {capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [Ingress]}}", "v")
          .value()
          .value;
  const ManifestFilter filter = filter_of(gate, version, "2", "p");
  EXPECT_EQ(filter.feature_set, "TechPreviewNoUpgrade");
  EXPECT_EQ(filter.gates, ManifestFilter::Names{"New"});
  EXPECT_EQ(filter.capabilities, ManifestFilter::Names{"Ingress"});
  EXPECT_FALSE(filter_of({}, Json(JsonObject()), "2", "p").capabilities);
}

}  // namespace
}  // namespace slipway::components::cluster_version
