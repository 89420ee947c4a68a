#include "components/config_operator/operator.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::config_operator {
namespace {

const ReleaseVersion release{"0.2.0"};

Json yaml(std::string_view text) { return parse_yaml(text, "x").value().value; }

std::vector<Json> lists() {
  const auto list = [](std::string_view set, std::string_view enabled) {
    return yaml(
        fmt::format("{{kind: FeatureGate, metadata: {{name: cluster, annotations: {{"
                    "include.release.openshift.io/self-managed-high-availability: false-except-for-the-config-operator, "
                    "release.openshift.io/feature-set: {}}}}}, status: {{featureGates: [{{enabled: [{}]}}]}}}}",
                    set, enabled));
  };
  return {list("Default", "{name: Old}"), list("TechPreviewNoUpgrade", "{name: New}, {name: Old}")};
}

void put_gate(View& view, std::string_view spec, std::string_view entries) {
  view.put(
      yaml(fmt::format("{{apiVersion: config.openshift.io/v1, kind: FeatureGate, metadata: {{name: cluster}}, spec: {}, "
                       "status: {{conditions: [], featureGates: {}}}}}",
                       spec, entries)));
}
void put_version(View& view, std::string_view history) {
  view.put(
      yaml(fmt::format("{{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {{name: version}}, "
                       "status: {{history: {}}}}}",
                       history)));
}
void put_map(View& view, std::string_view space, std::string_view name, std::string_view data) {
  view.put(yaml(
      fmt::format("{{apiVersion: v1, kind: ConfigMap, metadata: {{namespace: {}, name: {}}}, data: {}}}", space, name, data)));
}
void put_space(View& view, std::string_view name, std::string_view phase = "Active") {
  view.put(yaml(fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}, status: {{phase: {}}}}}", name, phase)));
}

DesiredState desired_state_of(const View& view) { return plan_config(lists(), release, view.snapshot()); }

std::string condition(const DesiredState& desired_state, std::string_view type) {
  for (const Condition& each : desired_state.conditions) {
    if (each.type == type) return fmt::format("{} {}: {}", each.is_true, each.reason, each.message);
  }
  return "none";
}

// The desired status of the FeatureGate, as one line.
std::string gates_of(const DesiredState& desired_state) {
  for (const DesiredObject& desired : desired_state.plan.desired_objects) {
    if (desired.type != kube::types::feature_gates) continue;
    EXPECT_EQ(desired.how, DesiredObject::How::status);
    EXPECT_NE(find(desired.object, {"status", "conditions"}), nullptr) << "others' part of the status stays";
    std::string text;
    for (const Json& entry : find_array(desired.object, {"status", "featureGates"})) {
      text += fmt::format("{}:", find_string(entry, {"version"}).value());
      for (const Json& gate : find_array(entry, {"enabled"})) text += fmt::format(" {}", find_string(gate, {"name"}).value());
      text += "; ";
    }
    return text;
  }
  return "none";
}

// "openshift-config-managed/service-ca ca-bundle.crt=SERVICES\nPEM\n", sorted.
std::vector<std::string> maps_of(const DesiredState& desired_state) {
  std::vector<std::string> lines;
  for (const DesiredObject& desired : desired_state.plan.desired_objects) {
    if (desired.type != kube::types::config_maps) continue;
    std::string line = fmt::format("{}/{}", kube::namespace_of(desired.object), kube::name_of(desired.object));
    for (const auto& [key, value] : find_object(desired.object, {"data"})) {
      line += fmt::format(" {}={}", std::string_view(key), std::string_view(value.as_string()));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

TEST(ConfigOperator, WritesTheGatesOfItsVersion) {
  View view;
  put_gate(view, "{}", "[]");
  const DesiredState desired_state = desired_state_of(view);
  EXPECT_EQ(gates_of(desired_state), "0.2.0: Old; ");
  EXPECT_EQ(condition(desired_state, "FeatureGatesAvailable"),
            "false NoGates: the status of the FeatureGate has no entry for version 0.2.0 yet");
  EXPECT_EQ(condition(desired_state, "FeatureGatesProgressing"),
            "true GatesChange: the status of the FeatureGate is being written");
  EXPECT_EQ(condition(desired_state, "FeatureGateControllerDegraded"), "false AsExpected: ");
  EXPECT_EQ(condition(desired_state, "FeatureGatesUpgradeable"), "true AsExpected: ");

  // The status that the render command writes needs no change.
  view.put(desired_state.plan.desired_objects.at(0).object);
  const DesiredState next = desired_state_of(view);
  EXPECT_TRUE(is_fulfilled(next.plan.desired_objects.at(0), view.snapshot()));
  EXPECT_EQ(condition(next, "FeatureGatesAvailable"), "true AsExpected: ");
  EXPECT_EQ(condition(next, "FeatureGatesProgressing"), "false AsExpected: ");
}

TEST(ConfigOperator, KeepsTheGatesOfEarlierVersions) {
  const char* entries = "[{version: 0.1.0, enabled: [{name: A}]}, {version: 0.2.0, enabled: []}, {version: 9.9.9, enabled: []}]";
  View view;
  put_gate(view, "{}", entries);
  EXPECT_EQ(gates_of(desired_state_of(view)), "0.1.0: A; 0.2.0: Old; 9.9.9:; ")
      << "without a history nothing is known to be over";
  put_version(view, "[{version: 0.2.0, state: Partial}, {version: 0.1.0, state: Completed}]");
  EXPECT_EQ(gates_of(desired_state_of(view)), "0.1.0: A; 0.2.0: Old; ");
}

TEST(ConfigOperator, FollowsTheFeatureSet) {
  View view;
  put_gate(view, "{featureSet: TechPreviewNoUpgrade}", "[{version: 0.2.0, enabled: [{name: Old}], disabled: []}]");
  DesiredState desired_state = desired_state_of(view);
  EXPECT_EQ(gates_of(desired_state), "0.2.0: New Old; ");
  EXPECT_EQ(condition(desired_state, "FeatureGatesAvailable"), "true AsExpected: ");
  EXPECT_EQ(condition(desired_state, "FeatureGatesUpgradeable"),
            "false RestrictedFeatureGates_TechPreviewNoUpgrade: "
            "a cluster with feature set TechPreviewNoUpgrade cannot be updated");

  // A change of the user's lists applies although the version is the same.
  put_gate(view, "{featureSet: CustomNoUpgrade, customNoUpgrade: {enabled: [Mine]}}",
           "[{version: 0.2.0, enabled: [{name: Old}], disabled: []}]");
  EXPECT_EQ(gates_of(desired_state_of(view)), "0.2.0: Mine Old; ");
}

TEST(ConfigOperator, ReportsWhyThereAreNoGates) {
  View view;
  EXPECT_EQ(condition(desired_state_of(view), "FeatureGateControllerDegraded"),
            "true SynchronizationError: FeatureGate cluster, which the installer creates, does not exist (create it with an "
            "empty spec)");
  put_gate(view, "{featureSet: Unknown}", "[{version: 0.2.0, enabled: []}]");
  const DesiredState desired_state = desired_state_of(view);
  EXPECT_EQ(gates_of(desired_state), "none");
  EXPECT_EQ(condition(desired_state, "FeatureGatesAvailable"), "true AsExpected: ") << "those before stay";
  EXPECT_TRUE(condition(desired_state, "FeatureGateControllerDegraded").starts_with("true SynchronizationError: spec.featureSet"))
      << condition(desired_state, "FeatureGateControllerDegraded");
}

TEST(ConfigOperator, PublishesTheCloudConfiguration) {
  View view;
  EXPECT_EQ(condition(desired_state_of(view), "KubeCloudConfigControllerDegraded"), "false AsExpected: ") << "none is asked for";
  view.put(
      yaml("{apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {name: cluster}, "
           "spec: {cloudConfig: {name: given, key: config}}}"));
  EXPECT_EQ(condition(desired_state_of(view), "KubeCloudConfigControllerDegraded"),
            "true SynchronizationError: spec.cloudConfig.name of Infrastructure cluster is given, but ConfigMap "
            "openshift-config/given does not exist");
  put_map(view, "openshift-config", "given", "{config: x, other: y}");
  const DesiredState desired_state = desired_state_of(view);
  EXPECT_EQ(maps_of(desired_state), std::vector<std::string>{"openshift-config-managed/kube-cloud-config cloud.conf=x other=y"});
  EXPECT_EQ(condition(desired_state, "KubeCloudConfigControllerDegraded"), "false AsExpected: ");
}

TEST(ConfigOperator, PublishesTheAuthoritiesOfServices) {
  View view;
  EXPECT_EQ(condition(desired_state_of(view), "ServiceCADegraded"),
            "true SynchronizationError: ConfigMap openshift-service-ca/signing-cabundle, which the service-ca operator creates, "
            "does not exist");
  put_map(view, "openshift-service-ca", "signing-cabundle", "{ca-bundle.crt: SERVICES}");
  EXPECT_EQ(condition(desired_state_of(view), "ServiceCADegraded"),
            "true SynchronizationError: ConfigMap openshift-config-managed/kube-apiserver-server-ca, which the kube-apiserver "
            "operator creates, does not exist");
  EXPECT_EQ(maps_of(desired_state_of(view)), std::vector<std::string>());
  put_map(view, "openshift-config-managed", "kube-apiserver-server-ca", "{ca-bundle.crt: PEM}");
  for (const char* name : {"default", "kube-system", "openshift", "openshift-dns", "shop"}) put_space(view, name);
  put_space(view, "leaving", "Terminating");
  const DesiredState desired_state = desired_state_of(view);
  EXPECT_EQ(maps_of(desired_state), (std::vector<std::string>{"openshift-config-managed/service-ca ca-bundle.crt=SERVICES\nPEM\n",
                                                              "default/openshift-service-ca.crt service-ca.crt=SERVICES\nPEM\n",
                                                              "shop/openshift-service-ca.crt service-ca.crt=SERVICES\nPEM\n"}));
  EXPECT_EQ(condition(desired_state, "ServiceCADegraded"), "false AsExpected: ");
}

}  // namespace
}  // namespace slipway::components::config_operator
