#include "components/cluster_version/apply_plan.h"

#include "base/yaml.h"
#include "kube/client.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_version {
namespace {

Json yaml(std::string_view text) { return parse_yaml(text, "x").value().value; }

// A manifest with the annotation of the profile and these annotations.
Manifest manifest(std::string path, std::string_view api_version, std::string_view kind, std::string_view name,
                  std::string_view annotations = "", std::string_view rest = "") {
  return {std::move(path), yaml(fmt::format("{{apiVersion: {}, kind: {}, metadata: {{name: {}, namespace: n, annotations: "
                                            "{{include.release.openshift.io/self-managed-high-availability: 'true'{}}}}}{}}}",
                                            api_version, kind, name, annotations, rest))};
}

std::vector<std::string> names(const std::vector<kube::Manifest>& manifests) {
  std::vector<std::string> found;
  for (const kube::Manifest& each : manifests) found.emplace_back(kube::name_of(each.object));
  return found;
}

using Names = std::vector<std::string>;

TEST(ApplyPlan, SortsManifestsByAction) {
  const auto deployment = [](std::string_view name, std::string_view annotations = "") {
    return manifest("f", "apps/v1", "Deployment", name, annotations);
  };
  const std::vector<Manifest> manifests = {deployment("kept"),
                                           deployment("once", ", release.openshift.io/create-only: 'true'"),
                                           deployment("gone", ", release.openshift.io/delete: 'true'"),
                                           deployment("mine"),
                                           deployment("preview", ", release.openshift.io/feature-set: TechPreviewNoUpgrade"),
                                           {"f", yaml("{kind: Deployment, metadata: {name: bare}}")}};
  const Json version = yaml(
      "spec: {overrides: [{kind: Deployment, group: apps, namespace: n, name: mine, unmanaged: true}, "
      "{kind: Deployment, group: apps, namespace: n, name: kept, unmanaged: false}]}");
  const ApplyPlan plan = plan_apply(manifests, {}, version);
  EXPECT_EQ(names(plan.apply), Names{"kept"});
  EXPECT_EQ(names(plan.create), Names{"once"});
  EXPECT_EQ(names(plan.remove), Names{"gone"});
  EXPECT_EQ(plan.overridden, 1);
  EXPECT_EQ(plan.size(), 3u);
  ASSERT_EQ(plan.gates.size(), 2u) << "what is overridden or removed is not waited for";
}

TEST(ApplyPlan, OverridesMeanOneObjectOnly) {
  struct Case {
    const char* override;
    int overridden;
  };
  const Case cases[] = {
      {"{kind: Deployment, group: apps, namespace: n, name: a, unmanaged: true}", 1},
      {"{kind: Deployment, group: apps, namespace: n, name: a}", 0},
      {"{kind: Deployment, group: apps, namespace: other, name: a, unmanaged: true}", 0},
      {"{kind: Deployment, group: '', namespace: n, name: a, unmanaged: true}", 0},
      {"{kind: DaemonSet, group: apps, namespace: n, name: a, unmanaged: true}", 0},
      {"{kind: Deployment, group: apps, namespace: n, name: b, unmanaged: true}", 0},
  };
  const std::vector<Manifest> manifests = {manifest("f", "apps/v1", "Deployment", "a")};
  for (const Case& each : cases) {
    const ApplyPlan plan = plan_apply(manifests, {}, yaml(fmt::format("spec: {{overrides: [{}]}}", each.override)));
    EXPECT_EQ(plan.overridden, each.overridden) << each.override;
    EXPECT_EQ(plan.apply.size(), static_cast<std::size_t>(1 - each.overridden)) << each.override;
  }
}

TEST(ApplyPlan, PutsClusterOperatorsFirstWithoutTheirStatus) {
  const std::string status =
      ", status: {versions: [{name: operator, version: 1.0.0}], relatedObjects: [{group: '', resource: namespaces, name: e}]}";
  const std::vector<Manifest> manifests = {
      manifest("0000_00_a_b.yaml", "apps/v1", "Deployment", "d"),
      manifest("0000_12_etcd_c.yaml", "config.openshift.io/v1", "ClusterOperator", "etcd", "", status)};
  const ApplyPlan plan = plan_apply(manifests, {}, Json(JsonObject()));
  ASSERT_EQ(names(plan.apply), (Names{"etcd", "d"}));
  EXPECT_EQ(emit_json(find_object(plan.apply[0].object, {"status"}), JsonStyle::compact),
            R"({"relatedObjects":[{"group":"","resource":"namespaces","name":"e"}]})");
  EXPECT_NE(find(plan.apply[0].object, {"spec"}), nullptr) << "its schema wants one";
  const auto gate = std::ranges::find(plan.gates, "etcd", &Gate::name);
  ASSERT_NE(gate, plan.gates.end());
  EXPECT_EQ(gate->versions, (std::vector<std::pair<std::string, std::string>>{{"operator", "1.0.0"}}));
}

TEST(ApplyPlan, SetsTheApiHostOfPods) {
  const std::string pods =
      "{initContainers: [{env: [{name: KUBERNETES_SERVICE_HOST, value: localhost}]}], containers: [{name: a}, "
      "{env: [{name: KUBERNETES_SERVICE_PORT, value: '6443'}, {name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}]}]}";
  const std::vector<Manifest> manifests = {
      manifest("f", "apps/v1", "DaemonSet", "a", "", ", spec: {template: {spec: " + pods + "}}"),
      manifest("f", "batch/v1", "CronJob", "b", "", ", spec: {jobTemplate: {spec: {template: {spec: " + pods + "}}}}"),
      manifest("f", "v1", "Pod", "c", "", ", spec: " + pods),
      manifest("f", "v1", "ConfigMap", "d", "", ", data: {name: KUBERNETES_SERVICE_HOST}")};
  const ApplyPlan plan = plan_apply(manifests, {}, Json(JsonObject()), "api-int.demo.example.com");
  for (const kube::Manifest& each : plan.apply) {
    const std::string text = emit_json(each.object, JsonStyle::compact);
    EXPECT_EQ(text.find("localhost"), std::string::npos) << text;
    EXPECT_EQ(text.find("127.0.0.1"), std::string::npos) << text;
    if (kube::name_of(each.object) == "d") continue;
    EXPECT_NE(text.find("6443"), std::string::npos) << text;
  }
  EXPECT_EQ(plan.apply[3].object, manifests[3].object);
  EXPECT_EQ(plan_apply(manifests, {}, Json(JsonObject())).apply[0].object, manifests[0].object) << "unknown: as it is";
}

TEST(RunLevels, AreInTheNamesOfFiles) {
  const std::pair<const char*, int> cases[] = {{"0000_12_etcd-operator_00_namespace.yaml", 12},
                                               {"0000_00_cluster-version-operator_30_deployment.yaml", 0},
                                               {"0000_7_x.yaml", 7},
                                               {"0000_xx_y.yaml", 50},
                                               {"0000_12.yaml", 50},
                                               {"99_mine.yaml", 50},
                                               {"0000_", 50}};
  for (const auto& [file, level] : cases) EXPECT_EQ(run_level(file), level) << file;
}

TEST(RunLevels, CutAPlanIntoSteps) {
  const std::vector<Manifest> manifests = {
      manifest("0000_20_b_operator.yaml", "config.openshift.io/v1", "ClusterOperator", "b"),
      manifest("0000_12_a_deployment.yaml", "apps/v1", "Deployment", "a"),
      manifest("0000_12_a_old.yaml", "v1", "ConfigMap", "old", ", release.openshift.io/delete: 'true'"),
      manifest("0000_20_c_once.yaml", "v1", "ConfigMap", "once", ", release.openshift.io/create-only: 'true'")};
  const std::vector<ApplyPlan> steps = by_run_level(plan_apply(manifests, {}, Json(JsonObject())));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(names(steps[0].apply), Names{"a"});
  EXPECT_EQ(names(steps[0].remove), Names{"old"});
  ASSERT_EQ(steps[0].gates.size(), 1u);
  EXPECT_EQ(steps[0].gates[0].name, "a");
  EXPECT_EQ(names(steps[1].apply), Names{"b"});
  EXPECT_EQ(names(steps[1].create), Names{"once"});
  ASSERT_EQ(steps[1].gates.size(), 1u);
  EXPECT_EQ(steps[1].gates[0].name, "b");
  EXPECT_EQ(by_run_level({}).size(), 1u) << "nothing to do is done in one step";
}

TEST(ControlPlaneFirst, OnlyWorkloadsOfLaterRunLevelsWait) {
  const std::vector<Manifest> manifests = {
      manifest("0000_20_api_operator.yaml", "config.openshift.io/v1", "ClusterOperator", "api"),
      manifest("0000_20_api_deployment.yaml", "apps/v1", "Deployment", "api"),
      manifest("0000_70_dns_operator.yaml", "config.openshift.io/v1", "ClusterOperator", "dns"),
      manifest("0000_70_dns_deployment.yaml", "apps/v1", "Deployment", "dns"),
      manifest("0000_70_dns_config.yaml", "v1", "ConfigMap", "dns"),
      manifest("0000_70_dns_once.yaml", "v1", "ConfigMap", "once", ", release.openshift.io/create-only: 'true'"),
      manifest("0000_10_old.yaml", "v1", "ConfigMap", "old", ", release.openshift.io/delete: 'true'"),
      manifest("0000_80_machines_deployment.yaml", "apps/v1", "Deployment", "machines")};
  const std::vector<ApplyPlan> steps = control_plane_first(plan_apply(manifests, {}, Json(JsonObject())));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(names(steps[0].apply), (Names{"api", "dns", "api", "dns", "machines"}));
  EXPECT_EQ(names(steps[0].create), Names{"once"});
  EXPECT_EQ(names(steps[0].remove), Names{});
  EXPECT_EQ(names(steps[1].remove), Names{"old"});
  EXPECT_EQ(names(steps[1].apply), Names{"dns"});
  EXPECT_EQ(find_string(steps[1].apply[0].object, {"kind"}), "Deployment");
  for (const Gate& gate : steps[0].gates) EXPECT_EQ(gate.name, "api");
  for (const Gate& gate : steps[1].gates) EXPECT_NE(gate.name, "api");
  EXPECT_EQ(steps[0].gates.size(), 2u);
  EXPECT_EQ(steps[1].gates.size(), 3u) << "the machine-config operator is in the first step, but its gate is not";
}

}  // namespace
}  // namespace slipway::components::cluster_version
