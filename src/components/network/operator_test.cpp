#include "components/network/operator.h"

#include "base/yaml.h"
#include "components/controller/operand.h"
#include "support/workload_cluster.h"

#include <gtest/gtest.h>

namespace slipway::components::network {
namespace {

using kube::types::config_maps;
using kube::types::daemon_sets;
using kube::types::network_settings;
using kube::types::networks;

// A new cluster, to which the objects of plans can be applied.
struct Cluster : testing_support::WorkloadCluster {
  Cluster() : WorkloadCluster(make_operator({"r/flannel@sha256:1", "r/kube-proxy@sha256:2", "r/operator@sha256:3"})) {
    put("{apiVersion: config.openshift.io/v1, kind: Network, metadata: {name: cluster}, spec: {networkType: Flannel, "
        "clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}], serviceNetwork: [172.30.0.0/16]}}");
    put("{apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {name: cluster}, "
        "status: {apiServerInternalURI: 'https://api-int.demo.example.com:6443'}}");
  }

  // Applies all objects of the plan; returns how many changed.
  int apply_all() {
    int count = 0;
    for (const DesiredObject& desired : desired_state().plan.desired_objects) {
      if (is_fulfilled(desired, view.snapshot())) continue;
      Json object = desired.object;
      object.at("metadata").as_object()["generation"] = 1;
      view.put(std::move(object));
      ++count;
    }
    return count;
  }
  void roll_out() {
    Json pods = *view.snapshot().find(daemon_sets, "openshift-flannel", "flannel-kube-proxy");
    pods.as_object()["status"] = {
        {"observedGeneration", 1}, {"desiredNumberScheduled", 3}, {"updatedNumberScheduled", 3}, {"numberAvailable", 3}};
    view.put(std::move(pods));
  }
  const Json* settings() const { return view.snapshot().find(network_settings, "", "cluster"); }
};

const DesiredObject* find_desired(const DesiredState& desired_state, const kube::ResourceType& type, std::string_view name,
                                  DesiredObject::How how = DesiredObject::How::apply) {
  for (const DesiredObject& desired : desired_state.plan.desired_objects) {
    if (desired.type == type && desired.how == how && kube::name_of(desired.object) == name) return &desired;
  }
  return nullptr;
}

Condition condition(const DesiredState& desired_state, std::string_view type) {
  for (const Condition& each : desired_state.conditions) {
    if (each.type == type) return each;
  }
  return {};
}

TEST(NetworkOperator, RunsFlannelKubeProxyAndThePolicyAgentOnEveryNode) {
  Cluster cluster;
  const DesiredState desired_state = cluster.desired_state();
  const DesiredObject* pods = find_desired(desired_state, daemon_sets, "flannel-kube-proxy");
  ASSERT_NE(pods, nullptr);
  const JsonArray& containers = find_array(pods->object, {"spec", "template", "spec", "containers"});
  ASSERT_EQ(containers.size(), 3u);
  for (const Json& container : containers) {
    const JsonArray& variables = find_array(container, {"env"});
    ASSERT_GE(variables.size(), 2u);
    EXPECT_EQ(text_of(variables[0], {"value"}), "api-int.demo.example.com");
    EXPECT_EQ(text_of(variables[1], {"value"}), "6443");
  }
  EXPECT_EQ(text_of(containers[0], {"image"}), "r/flannel@sha256:1");
  EXPECT_EQ(text_of(containers[1], {"image"}), "r/kube-proxy@sha256:2");
  EXPECT_EQ(text_of(containers[2], {"image"}), "r/operator@sha256:3");

  const DesiredObject* config = find_desired(desired_state, config_maps, "flannel-kube-proxy-config");
  ASSERT_NE(config, nullptr);
  const Result<Json> flannel = parse_json(text_of(config->object, {"data", "net-conf.json"}), "net-conf.json");
  ASSERT_TRUE(flannel.ok()) << flannel.error().message();
  EXPECT_EQ(text_of(flannel.value(), {"Network"}), "10.128.0.0/14");
  EXPECT_EQ(text_of(flannel.value(), {"Backend", "Type"}), "host-gw");
  const Result<YamlDocument> proxy = parse_yaml(text_of(config->object, {"data", "kube-proxy.yaml"}), "kube-proxy.yaml");
  ASSERT_TRUE(proxy.ok()) << proxy.error().message();
  EXPECT_EQ(text_of(proxy->value, {"mode"}), "nftables");
  EXPECT_EQ(text_of(proxy->value, {"clusterCIDR"}), "10.128.0.0/14");
}

// Nodes on AWS are in several subnets, so routes through nodes do not reach all of them. Ports of OpenStack drop packets with the
// addresses of pods.
TEST(NetworkOperator, UsesTunnelsOnAwsAndOpenStack) {
  for (const std::string_view platform : {"AWS", "OpenStack"}) {
    Cluster cluster;
    cluster.put(
        fmt::format("{{apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {{name: cluster}}, "
                    "status: {{apiServerInternalURI: 'https://api-int.demo.example.com:6443', platform: {}}}}}",
                    platform));
    const DesiredState desired_state = cluster.desired_state();
    const DesiredObject* config = find_desired(desired_state, config_maps, "flannel-kube-proxy-config");
    ASSERT_NE(config, nullptr);
    EXPECT_NE(text_of(config->object, {"data", "net-conf.json"}).find(R"("Backend": {"Type": "vxlan"})"), std::string::npos)
        << platform;
  }
}

TEST(NetworkOperator, RollsOutAnotherConfiguration) {
  const auto digest = [](const DesiredState& desired_state) {
    return text_of(find_desired(desired_state, daemon_sets, "flannel-kube-proxy")->object,
                   {"spec", "template", "metadata", "annotations", "network.operator.openshift.io/config-digest"});
  };
  Cluster cluster, other;
  other.put(
      "{apiVersion: config.openshift.io/v1, kind: Network, metadata: {name: cluster}, spec: {networkType: Flannel, "
      "clusterNetwork: [{cidr: 10.0.0.0/14}], serviceNetwork: [172.30.0.0/16]}}");
  EXPECT_EQ(digest(cluster.desired_state()).size(), 64u);
  EXPECT_NE(digest(cluster.desired_state()), digest(other.desired_state()));
}

TEST(NetworkOperator, CreatesItsSettingsAndKeepsOtherFields) {
  Cluster cluster;
  const DesiredState first = cluster.desired_state();
  const DesiredObject* settings = find_desired(first, network_settings, "cluster");
  ASSERT_NE(settings, nullptr);
  EXPECT_EQ(text_of(settings->object, {"spec", "managementState"}), "Managed");
  EXPECT_EQ(text_of(settings->object, {"spec", "defaultNetwork", "type"}), "Flannel");
  cluster.put(
      "{apiVersion: operator.openshift.io/v1, kind: Network, metadata: {name: cluster}, "
      "spec: {logLevel: Debug, managementState: Force}}");
  const DesiredState second = cluster.desired_state();
  EXPECT_EQ(find(find_desired(second, network_settings, "cluster")->object, {"spec", "managementState"}), nullptr);
}

TEST(NetworkOperator, SetsTheStatusOnceEveryNodeHasTheNetwork) {
  Cluster cluster;
  cluster.apply_all();
  cluster.apply_all();
  EXPECT_EQ(find_desired(cluster.desired_state(), networks, "cluster", DesiredObject::How::status), nullptr);
  EXPECT_FALSE(condition(cluster.desired_state(), "Available").is_true);
  EXPECT_TRUE(condition(cluster.desired_state(), "Progressing").is_true);
  cluster.roll_out();
  cluster.apply_all();
  const Json& config = *cluster.view.snapshot().find(networks, "", "cluster");
  EXPECT_EQ(text_of(config, {"status", "networkType"}), "Flannel");
  EXPECT_EQ(integer_of(config, {"status", "clusterNetworkMTU"}), 1500);
  EXPECT_EQ(find_array(config, {"status", "clusterNetwork"}), find_array(config, {"spec", "clusterNetwork"}));
  EXPECT_EQ(find_array(config, {"status", "serviceNetwork"}), find_array(config, {"spec", "serviceNetwork"}));
  EXPECT_TRUE(condition(cluster.desired_state(), "Available").is_true);
  EXPECT_FALSE(condition(cluster.desired_state(), "Degraded").is_true);
  cluster.apply_all();
  EXPECT_EQ(cluster.apply_all(), 0);
}

TEST(NetworkOperator, ReportsTheNetworkThatItRunsInstead) {
  Cluster cluster;
  cluster.put(
      "{apiVersion: config.openshift.io/v1, kind: Network, metadata: {name: cluster}, spec: {networkType: OVNKubernetes, "
      "clusterNetwork: [{cidr: 10.0.0.0/14}], serviceNetwork: [172.30.0.0/16]}}");
  cluster.apply_all();
  cluster.roll_out();
  cluster.apply_all();
  EXPECT_EQ(text_of(*cluster.view.snapshot().find(networks, "", "cluster"), {"status", "networkType"}), "Flannel");
  EXPECT_EQ(condition(cluster.desired_state(), "Available").message,
            "spec.networkType is \"OVNKubernetes\"; this release runs Flannel instead");
}

TEST(NetworkOperator, ChangesNothingWhenItRefusesSettings) {
  Cluster cluster;
  cluster.apply_all();
  cluster.roll_out();
  cluster.put(
      "{apiVersion: operator.openshift.io/v1, kind: Network, metadata: {name: cluster}, "
      "spec: {managementState: Managed, additionalNetworks: [{name: a}]}}");
  const DesiredState desired_state = cluster.desired_state();
  EXPECT_EQ(find_desired(desired_state, daemon_sets, "flannel-kube-proxy"), nullptr);
  EXPECT_TRUE(condition(desired_state, "Degraded").is_true);
  EXPECT_EQ(condition(desired_state, "Degraded").reason, "NotSupported");
  EXPECT_TRUE(condition(desired_state, "Available").is_true);
}

TEST(NetworkOperator, ChangesNothingWhenUnmanaged) {
  Cluster cluster;
  cluster.put(
      "{apiVersion: operator.openshift.io/v1, kind: Network, metadata: {name: cluster}, spec: {managementState: Unmanaged}}");
  const DesiredState desired_state = cluster.desired_state();
  ASSERT_EQ(desired_state.plan.desired_objects.size(), 1u);
  EXPECT_EQ(desired_state.plan.desired_objects[0].how, DesiredObject::How::status);
}

TEST(NetworkOperator, ReportsWhatIsMissing) {
  Cluster cluster;
  cluster.view.remove(kube::types::infrastructures, "", "cluster");
  const Result<DesiredState> made = cluster.work.desired_state(cluster.view.snapshot(), cluster.now);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message(), "Infrastructure.config.openshift.io cluster, which the installer creates, does not exist");
}

}  // namespace
}  // namespace slipway::components::network
