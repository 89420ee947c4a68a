#include "components/dns/operator.h"

#include "components/controller/operand.h"
#include "support/workload_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::dns {
namespace {

using kube::types::config_maps;
using kube::types::daemon_sets;
using kube::types::dns_settings;

struct Cluster : testing_support::WorkloadCluster {
  explicit Cluster(const std::string& spec = "{}") : WorkloadCluster(make_operator("r/coredns@sha256:1")) {
    put("{apiVersion: config.openshift.io/v1, kind: Network, metadata: {name: cluster}, spec: {serviceNetwork: "
        "[172.30.0.0/16]}}");
    set(spec);
  }

  void set(const std::string& spec) {
    put("{apiVersion: operator.openshift.io/v1, kind: DNS, metadata: {name: default}, spec: " + spec + "}");
  }
  int play() {
    int count = 0;
    for (const DesiredObject& desired : desired_state().plan.desired_objects) {
      if (is_fulfilled(desired, view.snapshot())) continue;
      view.put(desired.object);
      ++count;
    }
    return count;
  }
  std::string error() const {
    const Result<DesiredState> made = work.desired_state(view.snapshot(), now);
    return made.ok() ? "" : made.error().message();
  }
};

const Json& find_desired(const DesiredState& desired_state, const kube::ResourceType& type, std::string_view name) {
  static const Json none;
  for (const DesiredObject& desired : desired_state.plan.desired_objects) {
    if (desired.type == type && kube::name_of(desired.object) == name) return desired.object;
  }
  ADD_FAILURE() << "no desired object " << type.kind << " " << name;
  return none;
}

std::string digest(const DesiredState& desired_state) {
  return text_of(find_desired(desired_state, daemon_sets, "dns-default"),
                 {"spec", "template", "metadata", "annotations", "dns.operator.openshift.io/corefile-digest"});
}

TEST(DnsOperator, RunsCoreDnsBehindTheTenthAddress) {
  Cluster cluster;
  const DesiredState desired_state = cluster.desired_state();
  EXPECT_EQ(text_of(find_desired(desired_state, kube::types::services, "dns-default"), {"spec", "clusterIP"}), "172.30.0.10");
  const Json& settings = find_desired(desired_state, dns_settings, "default");
  EXPECT_EQ(text_of(settings, {"status", "clusterIP"}), "172.30.0.10");
  EXPECT_EQ(text_of(settings, {"status", "clusterDomain"}), "cluster.local");
  const Json& pods = find_desired(desired_state, daemon_sets, "dns-default");
  EXPECT_EQ(text_of(find_array(pods, {"spec", "template", "spec", "containers"}).at(0), {"image"}), "r/coredns@sha256:1");
  EXPECT_EQ(find_array(pods, {"spec", "template", "spec", "tolerations"}).size(), 2u);
  EXPECT_EQ(find(pods, {"spec", "template", "spec", "hostNetwork"}), nullptr);
  cluster.play();
  cluster.play();
  EXPECT_EQ(cluster.play(), 0);
}

TEST(DnsOperator, AppliesNodePlacement) {
  Cluster cluster("{nodePlacement: {nodeSelector: {a: b}, tolerations: []}}");
  const Json pods = find_desired(cluster.desired_state(), daemon_sets, "dns-default");
  EXPECT_EQ(find_object(pods, {"spec", "template", "spec", "nodeSelector"}), (JsonObject{{"a", "b"}}));
  EXPECT_EQ(find_array(pods, {"spec", "template", "spec", "tolerations"}).size(), 0u);
}

TEST(DnsOperator, RollsOutAnotherCorefile) {
  EXPECT_NE(digest(Cluster().desired_state()), digest(Cluster("{logLevel: Debug}").desired_state()));
}

TEST(DnsOperator, KeepsTheCorefileWhenItRefusesSettings) {
  Cluster cluster("{logLevel: Debug}");
  cluster.play();
  const std::string before = digest(cluster.desired_state());
  const std::string bad = "{servers: [{name: a, zones: [cluster.local], forwardPlugin: {upstreams: [1.1.1.1]}}]}";
  cluster.set(bad);
  DesiredState desired_state = cluster.desired_state();
  EXPECT_EQ(digest(desired_state), before);
  EXPECT_EQ(text_of(find_desired(desired_state, config_maps, "dns-default"), {"data", "Corefile"}).find("# a"),
            std::string::npos);
  const Condition degraded{"Degraded", true, "NotSupported", "spec.servers[a].zones: cluster.local is the zone of the cluster"};
  EXPECT_NE(std::ranges::find(desired_state.conditions, degraded), desired_state.conditions.end());
  EXPECT_EQ(digest(Cluster(bad).desired_state()), digest(Cluster().desired_state())) << "a new cluster has names all the same";
}

TEST(DnsOperator, ChangesNothingWhenUnmanaged) {
  const DesiredState desired_state = Cluster("{managementState: Unmanaged}").desired_state();
  ASSERT_EQ(desired_state.plan.desired_objects.size(), 1u);
  EXPECT_EQ(desired_state.plan.desired_objects[0].how, DesiredObject::How::status);
}

TEST(DnsOperator, ReportsWhatIsMissing) {
  Cluster cluster;
  cluster.view.remove(dns_settings, "", "default");
  EXPECT_EQ(cluster.error(), "DNS.operator.openshift.io default does not exist (create it with an empty spec)");
  cluster.set("{}");
  cluster.view.remove(kube::types::networks, "", "cluster");
  EXPECT_EQ(cluster.error(), "Network.config.openshift.io cluster, which the installer creates, does not exist");
  cluster.put(
      "{apiVersion: config.openshift.io/v1, kind: Network, metadata: {name: cluster}, spec: {serviceNetwork: [172.30.0.0/30]}}");
  EXPECT_TRUE(cluster.error().starts_with("spec.serviceNetwork of Network.config.openshift.io cluster: ")) << cluster.error();
}

}  // namespace
}  // namespace slipway::components::dns
