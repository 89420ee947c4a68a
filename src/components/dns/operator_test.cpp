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
    for (const Wish& wish : aim().plan.wishes) {
      if (is_fulfilled(wish, view.snapshot())) continue;
      view.put(wish.object);
      ++count;
    }
    return count;
  }
  std::string error() const {
    const Result<Aim> made = work.aim(view.snapshot(), now);
    return made.ok() ? "" : made.error().message();
  }
};

const Json& wished(const Aim& aim, const kube::ResourceType& type, std::string_view name) {
  static const Json none;
  for (const Wish& wish : aim.plan.wishes) {
    if (wish.type == type && kube::name_of(wish.object) == name) return wish.object;
  }
  ADD_FAILURE() << "no wish for " << type.kind << " " << name;
  return none;
}

std::string digest(const Aim& aim) {
  return text_of(wished(aim, daemon_sets, "dns-default"),
                 {"spec", "template", "metadata", "annotations", "dns.operator.openshift.io/corefile-digest"});
}

TEST(DnsOperator, RunsCoreDnsBehindTheTenthAddress) {
  Cluster cluster;
  const Aim aim = cluster.aim();
  EXPECT_EQ(text_of(wished(aim, kube::types::services, "dns-default"), {"spec", "clusterIP"}), "172.30.0.10");
  const Json& settings = wished(aim, dns_settings, "default");
  EXPECT_EQ(text_of(settings, {"status", "clusterIP"}), "172.30.0.10");
  EXPECT_EQ(text_of(settings, {"status", "clusterDomain"}), "cluster.local");
  const Json& pods = wished(aim, daemon_sets, "dns-default");
  EXPECT_EQ(text_of(find_array(pods, {"spec", "template", "spec", "containers"}).at(0), {"image"}), "r/coredns@sha256:1");
  EXPECT_EQ(find_array(pods, {"spec", "template", "spec", "tolerations"}).size(), 2u);
  EXPECT_EQ(find(pods, {"spec", "template", "spec", "hostNetwork"}), nullptr);
  cluster.play();
  cluster.play();
  EXPECT_EQ(cluster.play(), 0);
}

TEST(DnsOperator, PutsPodsWhereItIsTold) {
  Cluster cluster("{nodePlacement: {nodeSelector: {a: b}, tolerations: []}}");
  const Json pods = wished(cluster.aim(), daemon_sets, "dns-default");
  EXPECT_EQ(find_object(pods, {"spec", "template", "spec", "nodeSelector"}), (JsonObject{{"a", "b"}}));
  EXPECT_EQ(find_array(pods, {"spec", "template", "spec", "tolerations"}).size(), 0u);
}

TEST(DnsOperator, RollsOutAnotherCorefile) { EXPECT_NE(digest(Cluster().aim()), digest(Cluster("{logLevel: Debug}").aim())); }

TEST(DnsOperator, KeepsTheCorefileThatIsThereWhenItRefuses) {
  Cluster cluster("{logLevel: Debug}");
  cluster.play();
  const std::string before = digest(cluster.aim());
  const std::string bad = "{servers: [{name: a, zones: [cluster.local], forwardPlugin: {upstreams: [1.1.1.1]}}]}";
  cluster.set(bad);
  Aim aim = cluster.aim();
  EXPECT_EQ(digest(aim), before);
  EXPECT_EQ(text_of(wished(aim, config_maps, "dns-default"), {"data", "Corefile"}).find("# a"), std::string::npos);
  const Condition degraded{"Degraded", true, "NotSupported", "spec.servers[a].zones: cluster.local is the zone of the cluster"};
  EXPECT_NE(std::ranges::find(aim.conditions, degraded), aim.conditions.end());
  EXPECT_EQ(digest(Cluster(bad).aim()), digest(Cluster().aim())) << "a new cluster has names all the same";
}

TEST(DnsOperator, TouchesNothingThatIsUnmanaged) {
  const Aim aim = Cluster("{managementState: Unmanaged}").aim();
  ASSERT_EQ(aim.plan.wishes.size(), 1u);
  EXPECT_EQ(aim.plan.wishes[0].how, Wish::How::status);
}

TEST(DnsOperator, SaysWhatIsMissing) {
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
