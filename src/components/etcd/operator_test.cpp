#include "components/etcd/operator.h"

#include "components/etcd/facts.h"
#include "kube/conditions.h"
#include "net/curl_http.h"
#include "support/rendered_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::etcd {
namespace {

using namespace std::chrono_literals;
using kube::types::config_maps;
using kube::types::secrets;

const OperatorVariables variables = testing_support::operator_variables("etcd");
constexpr std::string_view bootstrap_address = "10.97.77.10";

// A base class, so that it is constructed before and destroyed after the operator that uses it.
struct Client {
  net::CurlHttp http;
};

struct Cluster : private Client, testing_support::StaticPodCluster {
  explicit Cluster(int masters = 3) : StaticPodCluster(make_operator(variables, http), variables) {
    for (int i = 0; i < 3; ++i) view.remove(kube::types::nodes, "", fmt::format("master-{}", i));
    for (int i = 0; i < masters; ++i) put_master(i);
  }
  void put_master(int number) {
    admit(fmt::format("master-{}", number), "master");
    put_labelled(fmt::format("master-{}", number), fmt::format("10.97.77.{}", 11 + number));
  }
  void put_labelled(const std::string& name, const std::string& address) {
    put({{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", {{"name", name}, {"labels", {{"node-role.kubernetes.io/master", ""}}}}},
         {"status",
          {{"addresses", Json(JsonArray{Json{{"type", "Hostname"}, {"address", name}},
                                        Json{{"type", "InternalIP"}, {"address", "10.97.77.5"}},  // the virtual IP of the API
                                        Json{{"type", "InternalIP"}, {"address", address}}})}}}});
  }
  net::CertificateInfo certificate(std::string_view key) const {
    return net::parse_certificate(text(secrets, space, "etcd-all-certs", key)).value();
  }
  // Puts the members into the view as the observer does: "B" is etcd-bootstrap, "0" to "2" are the voting masters, "a" to "c" the
  // same masters as learners; the first letter is the leader.
  void see_members(std::string_view which) {
    Facts facts;
    for (char letter : which) {
      const bool is_bootstrap = letter == 'B';
      const int number = letter >= 'a' ? letter - 'a' : letter - '0';
      ObservedMember it;
      it.member = {
          .id = static_cast<MemberId>(is_bootstrap ? 255 : 160 + number),
          .name = is_bootstrap ? "etcd-bootstrap" : fmt::format("master-{}", number),
          .peer_urls = {peer_url(is_bootstrap ? std::string(bootstrap_address) : fmt::format("10.97.77.{}", 11 + number))},
          .is_learner = letter >= 'a'};
      it.is_healthy = true;
      it.is_leader = facts.members.empty();
      facts.members.push_back(std::move(it));
    }
    view.put(facts_object(facts));
  }
};

TEST(EtcdOperator, MakesOneRevisionForAllMasters) {
  Cluster cluster;
  cluster.see_members("B");
  testing_support::expect_one_revision(cluster);
}

// Neither the handover nor an additional master may restart etcd.
TEST(EtcdOperator, TheHandoverCreatesNoOtherRevision) {
  Cluster cluster;
  cluster.settle();
  for (std::string_view members : {"B", "Babc", "B0bc", "B012", "0B12", "012"}) {
    cluster.see_members(members);
    cluster.settle();
  }
  cluster.put(config_map({"kube-system", "bootstrap"}, {{"status", "complete"}}));
  cluster.put_master(3);
  cluster.settle();
  EXPECT_TRUE(cluster.has_revision(1));
  EXPECT_FALSE(cluster.has_revision(2));
  EXPECT_EQ(cluster.certificate("etcd-peer-master-3.crt").ip_addresses.back(), "10.97.77.14");
  EXPECT_NE(cluster.text(config_maps, space, "etcd-scripts", "etcd.env").find("https://10.97.77.14:2381"), std::string::npos);
}

// A node that labels itself as a master would get certificates, a trusted address and a place in the list of members.
TEST(EtcdOperator, DoesNotTrustLabels) {
  Cluster cluster;
  cluster.settle();
  cluster.see_members("012");
  cluster.admit("worker-0", "worker");
  cluster.put_labelled("worker-0", "10.97.77.20");
  cluster.put_labelled("stranger", "10.97.77.21");
  cluster.settle();
  std::vector<std::string> masters;
  for (const Master& master : read_cluster(cluster.view.snapshot()).masters) masters.push_back(master.node);
  EXPECT_EQ(masters, (std::vector<std::string>{"master-0", "master-1", "master-2"}));
  const Json* all = cluster.view.snapshot().find(secrets, space, "etcd-all-certs");
  EXPECT_EQ(find_object(*all, {"data"}).size(), 18u);
  EXPECT_EQ(cluster.text(config_maps, space, "etcd-scripts", "etcd.env").find("10.97.77.2"), std::string::npos);
  const Json* settings = cluster.view.snapshot().find(kube::types::etcds, "", "cluster");
  EXPECT_EQ(parse_node_statuses(*settings).size(), 3u);
  const Json* condition = kube::find_condition(*settings, "MachineTableDegraded");
  ASSERT_TRUE(condition != nullptr);
  EXPECT_EQ(find_string(*condition, {"reason"}), "LabelWithoutRow");
}

TEST(EtcdOperator, GivesEachMasterItsCertificates) {
  Cluster cluster;
  cluster.settle();
  const Json* all = cluster.view.snapshot().find(secrets, space, "etcd-all-certs");
  EXPECT_EQ(find_object(*all, {"data"}).size(), 18u) << "three pairs a master, none of the bootstrap machine";
  const net::CertificateInfo peer = cluster.certificate("etcd-peer-master-2.crt");
  EXPECT_EQ(peer.ip_addresses, (std::vector<std::string>{"127.0.0.1", "::1", "10.97.77.13"}));
  EXPECT_TRUE(peer.server_auth && peer.client_auth);
  const std::string ca = cluster.text(config_maps, space, "etcd-all-bundles", "server-ca-bundle.crt");
  const std::string metrics_ca = cluster.text(config_maps, space, "etcd-all-bundles", "metrics-ca-bundle.crt");
  const auto is_signed = [&](std::string_view key, const std::string& authority) {
    return net::is_signed_by(cluster.text(secrets, space, "etcd-all-certs", key), authority).value();
  };
  EXPECT_TRUE(is_signed("etcd-peer-master-0.crt", ca));
  EXPECT_TRUE(is_signed("etcd-serving-master-1.crt", ca));
  EXPECT_TRUE(is_signed("etcd-serving-metrics-master-2.crt", metrics_ca));
  EXPECT_EQ(cluster.text(config_maps, "openshift-config", "etcd-serving-ca", "ca-bundle.crt"), ca);
  EXPECT_EQ(cluster.text(secrets, "openshift-config", "etcd-client", "tls.crt"),
            cluster.text(secrets, space, "etcd-client", "tls.crt"));
}

TEST(EtcdOperator, LetsGoOfAMasterThatLeaves) {
  Cluster cluster;
  cluster.put(config_map({"kube-system", "bootstrap"}, {{"status", "complete"}}));
  cluster.see_members("012");
  cluster.settle();
  EXPECT_TRUE(cluster.has(secrets, space, "etcd-peer-master-2"));
  EXPECT_NE(cluster.text(config_maps, space, "etcd-members", "members").find(R"("name":"master-2","address":"10.97.77.13")"),
            std::string::npos);
  cluster.admit("master-2", "removed");
  cluster.settle();
  EXPECT_FALSE(cluster.has(secrets, space, "etcd-peer-master-2")) << "the next machine of this name gets another key";
  const auto files = [&] {
    return find_object(*cluster.view.snapshot().find(secrets, space, "etcd-all-certs"), {"data"}).size();
  };
  EXPECT_EQ(files(), 18u) << "its member still runs, and reads them for each connection";
  EXPECT_EQ(cluster.text(config_maps, space, "etcd-scripts", "etcd.env").find("10.97.77.13"), std::string::npos);
  EXPECT_FALSE(cluster.has_revision(2));
  cluster.see_members("01");
  cluster.settle();
  EXPECT_EQ(files(), 12u);
  cluster.view.remove(kube::types::nodes, "", "master-1");
  cluster.settle();
  EXPECT_EQ(files(), 12u) << "a Node that was deleted by mistake";
}

TEST(EtcdOperator, KnowsMembersOfMastersThatLeft) {
  const auto member = [](MemberId id, const std::string& name, const std::string& address) {
    return ObservedMember{.member = {.id = id, .name = name, .peer_urls = {peer_url(address)}}};
  };
  const ObservedMembers members = {member(1, "master-0", "10.0.0.11"), member(2, "master-1", "10.0.0.12")};
  const kube::MachineRow row0{"master-0", "master", {"10.0.0.11"}}, row1{"master-1", "master", {"10.0.0.12"}},
      removed1{"master-1", "removed", {"10.0.0.12"}};
  const slipway::components::etcd::Master master0{"master-0", "10.0.0.11"}, master1{"master-1", "10.0.0.12"};
  struct Case {
    std::string_view what;
    slipway::components::etcd::Cluster cluster;
    ObservedMembers members;
    std::set<MemberId> left;
  };
  const std::vector<Case> cases = {
      {"all are masters", {.masters = {master0, master1}, .machines = {row0, row1}}, members, {}},
      {"a row says removed", {.masters = {master0}, .machines = {row0, removed1}, .nodes = {"master-1"}}, members, {2}},
      {"by its address, before it has started",
       {.masters = {master0}, .machines = {row0, removed1}},
       {members[0], member(2, "", "10.0.0.12")},
       {2}},
      {"neither row nor Node", {.masters = {master0}, .machines = {row0}}, members, {2}},
      {"no row, but a Node", {.masters = {master0}, .machines = {row0}, .nodes = {"master-1"}}, members, {}},
      {"no row, but a Node with its address",
       {.masters = {master0}, .machines = {row0}, .addresses = {{"10.0.0.12", "master-1"}}},
       members,
       {}},
      {"by the address of its Node, before it has started: the row has none",
       {.masters = {master0},
        .machines = {row0, {"master-1", "removed", {}}},
        .nodes = {"master-1"},
        .addresses = {{"10.0.0.12", "master-1"}}},
       {members[0], member(2, "", "10.0.0.12")},
       {2}},
      {"a row, but no Node: it was deleted by mistake", {.masters = {master0}, .machines = {row0, row1}}, members, {}},
      {"another master has the address of one that left",
       {.masters = {master0, {"master-3", "10.0.0.12"}}, .machines = {row0, removed1, {"master-3", "master", {"10.0.0.12"}}}},
       {members[0], member(3, "master-3", "10.0.0.12")},
       {}},
      {"no table", {.masters = {master0}}, members, {}},
      {"a table without masters", {.masters = {master0}, .machines = {{"worker-0", "worker", {}}}}, members, {}},
      {"the member of the bootstrap machine",
       {.masters = {master0}, .bootstrap_address = "10.0.0.10", .machines = {row0}},
       {members[0], member(9, "etcd-bootstrap", "10.0.0.10")},
       {}},
  };
  for (const Case& it : cases) EXPECT_EQ(it.cluster.left(it.members), it.left) << it.what;
}

TEST(EtcdOperator, RotatesCertificatesWithoutARevision) {
  Cluster cluster;
  cluster.settle();
  const std::string before = cluster.text(secrets, space, "etcd-all-certs", "etcd-peer-master-0.crt");
  const std::string ca = cluster.text(config_maps, space, "etcd-all-bundles", "server-ca-bundle.crt");
  cluster.set_lifetimes({{"leaf", "5m"}, {"authority", "20m"}});
  cluster.now += 10min;
  cluster.settle();
  EXPECT_EQ(cluster.text(secrets, space, "etcd-all-certs", "etcd-peer-master-0.crt"), before) << "these settings are not etcd's";
  cluster.set_lifetimes({{"etcd", "5m"}, {"authority", "20m"}});
  cluster.now += 10min;
  cluster.settle();
  EXPECT_NE(cluster.text(secrets, space, "etcd-all-certs", "etcd-peer-master-0.crt"), before);
  const net::CertificateInfo after = cluster.certificate("etcd-peer-master-0.crt");
  EXPECT_LE(after.not_after - after.not_before, 5min);
  EXPECT_EQ(cluster.text(config_maps, space, "etcd-all-bundles", "server-ca-bundle.crt"), ca) << "members read it once only";
  EXPECT_FALSE(cluster.has_revision(2));
}

TEST(EtcdOperator, WaitsForItsInputs) {
  Cluster two(2);
  two.settle();
  EXPECT_EQ(two.target().missing, std::vector<std::string>{"2 of 3 masters are registered with an address"});
  EXPECT_FALSE(two.has_revision(1));
  EXPECT_EQ(two.target().plan.replan_at.has_value(), true);
  two.now += 2min;
  two.settle();
  EXPECT_TRUE(two.has_revision(1));

  Cluster unsigned_cluster;
  unsigned_cluster.view.remove(secrets, space, "etcd-signer");
  unsigned_cluster.settle();
  EXPECT_FALSE(unsigned_cluster.has(secrets, space, "etcd-signer")) << "another authority than the installer's";
  EXPECT_FALSE(unsigned_cluster.has_revision(1));

  Cluster unknown;
  unknown.view.remove(config_maps, "kube-system", "cluster-config-v1");
  EXPECT_EQ(unknown.target().missing.front(), "ConfigMap kube-system/cluster-config-v1, which the installer creates");
}

TEST(EtcdOperator, PublishesTheEndpoints) {
  Cluster cluster;
  const auto endpoints = [&] { return *cluster.view.snapshot().find(config_maps, space, "etcd-endpoints"); };
  const auto annotation = [&] {
    const Json object = endpoints();
    return text_of(object, {"metadata", "annotations", bootstrap_annotation});
  };
  cluster.see_members("Babc");
  cluster.settle();
  EXPECT_EQ(find_object(endpoints(), {"data"}), JsonObject{});
  EXPECT_EQ(annotation(), bootstrap_address);
  cluster.see_members("B01c");
  cluster.settle();
  EXPECT_EQ(find_object(endpoints(), {"data"}), (JsonObject{{"a0", "10.97.77.11"}, {"a1", "10.97.77.12"}}));
  EXPECT_EQ(annotation(), bootstrap_address);
  cluster.see_members("012");
  cluster.settle();
  EXPECT_EQ(find_object(endpoints(), {"data"}).size(), 3u);
  EXPECT_EQ(annotation(), "");
  EXPECT_EQ(cluster.text(config_maps, space, "etcd-scripts", "etcd.env").find(bootstrap_address), std::string::npos);
}

TEST(EtcdOperator, ReportsConditionsAndChanges) {
  Cluster cluster;
  EXPECT_EQ(cluster.target().conditions, (std::vector<Condition>{{"BackupControllerDegraded"}, {"CertificateRotationDegraded"}}))
      << "of members nothing is known yet";
  cluster.see_members("0B12");
  Facts facts = *find_facts(cluster.view.snapshot());
  facts.changes = {{"LeaderMoved", "master-0 is the leader of etcd; previous members: ..."}};
  facts.refused = "promoting master-1: no";
  cluster.view.put(facts_object(facts));
  cluster.settle();
  const Json* object = cluster.view.snapshot().find(kube::types::etcds, "", "cluster");
  EXPECT_EQ(kube::condition_status(*object, "EtcdRunningInCluster"), "True");
  EXPECT_EQ(kube::condition_status(*object, "EtcdBootstrapMemberRemoved"), "False");
  EXPECT_EQ(kube::condition_status(*object, "EtcdMembersAvailable"), "True");
  EXPECT_EQ(kube::condition_status(*object, "ClusterMemberDegraded"), "True");
  const Target target = cluster.target();
  ASSERT_EQ(target.plan.notices.size(), 1u);
  EXPECT_EQ(target.plan.notices[0].reason, "LeaderMoved");
  facts.unreadable = "no answer";
  cluster.view.put(facts_object(facts));
  const auto conditions = cluster.target().conditions;
  EXPECT_EQ(std::ranges::count(conditions, "EtcdMembersDegraded", &Condition::type), 1);
  EXPECT_EQ(std::ranges::find(conditions, "EtcdMembersDegraded", &Condition::type)->message, "no answer");
}

TEST(EtcdOperator, HoldsBackRestartsThatBreakTheQuorum) {
  Cluster cluster;
  const auto why = [&](const std::string& node) -> std::optional<std::string> {
    const std::optional<Objection> objection = cluster.work.rollout_guard(cluster.view.snapshot(), node, cluster.now);
    return objection ? std::optional(objection->reason) : std::nullopt;
  };
  EXPECT_EQ(why("master-0"), "the members of etcd are not known yet");
  cluster.see_members("012");
  EXPECT_EQ(why("master-0"), std::nullopt);
  Facts facts = *find_facts(cluster.view.snapshot());
  facts.members[1].is_healthy = false;
  cluster.view.put(facts_object(facts));
  EXPECT_NE(why("master-0"), std::nullopt);
  EXPECT_EQ(why("master-1"), std::nullopt);
  facts.unreadable = "no answer";
  cluster.view.put(facts_object(facts));
  EXPECT_EQ(why("master-1"), "the members of etcd are not known: no answer");
}

TEST(EtcdOperator, WaitsForTheApiServersOfOtherMasters) {
  Cluster cluster;
  cluster.see_members("012");
  const auto put_pod = [&](const std::string& node, std::string_view ready, WallTime since) {
    Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"spec", {{"nodeName", node}}}};
    pod.as_object()["metadata"] = {
        {"name", "kube-apiserver-" + node}, {"namespace", "openshift-kube-apiserver"}, {"labels", {{"apiserver", "true"}}}};
    const std::string time = to_rfc3339(std::chrono::floor<Seconds>(since));
    const Json condition = {{"type", "Ready"}, {"status", ready}, {"lastTransitionTime", time}};
    pod.as_object()["status"] = {{"conditions", JsonArray{condition}}};
    cluster.view.put(std::move(pod));
  };
  const auto objection = [&](const std::string& node) {
    return cluster.work.rollout_guard(cluster.view.snapshot(), node, cluster.now);
  };
  for (const char* node : {"master-0", "master-1", "master-2"}) put_pod(node, "True", cluster.now - 1h);
  EXPECT_FALSE(objection("master-1"));
  put_pod("master-0", "False", cluster.now - 20s);
  ASSERT_TRUE(objection("master-1"));
  EXPECT_EQ(objection("master-1")->reason, "pod kube-apiserver-master-0 is not Ready");
  EXPECT_EQ(objection("master-1")->until, cluster.now + 100s);
  EXPECT_FALSE(objection("master-0")) << "its own API server does not serve";
  cluster.now += 100s;
  EXPECT_FALSE(objection("master-1")) << "an API server that cannot start holds nothing back";

  put_pod("master-0", "True", cluster.now);
  const auto put_target = [&](const NodeStatus& of_master_0) {
    const Json settings = {{"apiVersion", "operator.openshift.io/v1"},
                           {"kind", "KubeAPIServer"},
                           {"metadata", {{"name", "cluster"}}},
                           {"status", JsonObject()}};
    cluster.view.put(with_node_statuses(settings, {of_master_0, {.node = "master-1", .current = 4}}));
  };
  put_target({.node = "master-0", .current = 4, .target = 5});
  ASSERT_TRUE(objection("master-1"));
  EXPECT_EQ(objection("master-1")->reason, "the API server of master-0 changes");
  EXPECT_FALSE(objection("master-0")) << "both may change together";
  put_target({.node = "master-0", .current = 4, .target = 4, .last_failed = 5});
  EXPECT_FALSE(objection("master-1")) << "it runs its previous revision again";
}

// The installer pod replaces the placeholders everywhere in the pod, so the pod must not use them for anything else.
TEST(EtcdOperator, MakesThePod) {
  Cluster cluster;
  cluster.settle();
  const Json pod = cluster.document(space, "etcd-pod", "pod.yaml");
  EXPECT_EQ(find_string(pod, {"metadata", "labels", "revision"}), "REVISION");
  const JsonArray& containers = find_array(pod, {"spec", "containers"});
  ASSERT_EQ(containers.size(), 1u);
  EXPECT_EQ(find_string(containers[0], {"image"}), variables.image);
  std::map<std::string, std::string> environment;
  for (const Json& variable : find_array(containers[0], {"env"})) {
    environment[std::string(find_string(variable, {"name"}).value())] = find_string(variable, {"value"}).value_or("");
  }
  EXPECT_EQ(environment["ETCD_NAME"], "NODE_NAME");
  EXPECT_EQ(environment["ETCD_MAX_LEARNERS"], "3");
  EXPECT_EQ(environment["ETCD_QUOTA_BACKEND_BYTES"], "8589934592");
  EXPECT_EQ(environment["ETCD_ELECTION_TIMEOUT"], "1000");
  EXPECT_EQ(environment["ETCD_INITIAL_CLUSTER_STATE"], "existing");
  const std::string script(find_array(containers[0], {"command"}).at(2).as_string());
  EXPECT_NE(script.find("--listen-client-urls=https://0.0.0.0:2379 "), std::string::npos) << script;

  cluster.set_spec({{"controlPlaneHardwareSpeed", "Slower"}, {"backendQuotaGiB", 16}});
  cluster.settle();
  const std::string slow = cluster.text(config_maps, space, "etcd-pod", "pod.yaml");
  EXPECT_NE(slow.find("value: \"2500\""), std::string::npos);
  EXPECT_NE(slow.find("value: \"17179869184\""), std::string::npos);
  EXPECT_TRUE(cluster.has_revision(2));
}

}  // namespace
}  // namespace slipway::components::etcd
