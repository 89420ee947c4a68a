#include "cluster/ready.h"

#include "kube/conditions.h"
#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::cluster {
namespace {

// The role is the prefix of the name.
Json node(std::string name, std::string ready) {
  const std::string role = name.substr(0, name.find('-'));
  return {{"metadata", {{"name", name}, {"labels", {{"node-role.kubernetes.io/" + role, ""}}}}},
          {"status", {{"conditions", {{{"type", "Ready"}, {"status", ready}}}}}}};
}

TEST(MissingNodes, AreNamedWithTheReason) {
  const std::vector<std::string> expected = {"master-0", "master-1", "master-2"};
  EXPECT_EQ(missing_nodes({}, {"master-0"}, "master"), "node master-0 is not registered");
  EXPECT_EQ(missing_nodes({node("master-0", "True"), node("master-1", "False")}, expected, "master"),
            "node master-1 is not Ready, node master-2 is not registered");
  EXPECT_EQ(
      missing_nodes({node("master-2", "True"), node("master-0", "True"), node("master-1", "True"), node("worker-0", "False")},
                    expected, "master"),
      std::nullopt);
  EXPECT_EQ(missing_nodes({node("worker-0", "True"), node("master-0", "True")}, {"worker-0", "master-0"}, "worker"),
            "node master-0 does not have the role worker");
}

// As on platforms on which slipway does not name the machines.
TEST(TooFewControlPlaneNodes, CountsThemWhateverTheirNames) {
  Json unnamed = node("host-9", "True");
  unnamed.get_object()["metadata"].get_object().erase("labels");
  const auto named = [](std::string name, std::string role, std::string ready) {
    Json object = node(role + "-", std::move(ready));
    object.get_object()["metadata"].get_object()["name"] = std::move(name);
    return object;
  };
  const Json one = named("ocp-x7k2p-master-a.example.com", "master", "True"), two = named("rack-4", "master", "False"),
             three = named("rack-5", "master", "True"), worker = named("rack-6", "worker", "True");
  EXPECT_EQ(too_few_control_plane_nodes({}, 3), "0 of 3 control plane nodes are Ready");
  EXPECT_EQ(too_few_control_plane_nodes({one, two, worker, unnamed}, 3),
            "1 of 3 control plane nodes are Ready: node rack-4 is not Ready, node host-9 has no role");
  EXPECT_EQ(too_few_control_plane_nodes({one, three, worker}, 3), "2 of 3 control plane nodes are Ready")
      << "workers do not count";
  EXPECT_EQ(too_few_control_plane_nodes({one, two, three}, 2), std::nullopt);
}

Json operator_with(std::string name, JsonArray conditions) {
  return {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "ClusterOperator"},
          {"metadata", {{"name", name}}},
          {"status", {{"conditions", std::move(conditions)}}}};
}

Json condition(std::string type, std::string status, std::string message = "") {
  return {{"type", type}, {"status", status}, {"message", message}};
}

TEST(NotAvailable, IsSaidInTheWordsOfTheClusterVersion) {
  struct Case {
    JsonArray conditions;
    std::optional<std::string> reason;
  };
  const Case cases[] = {
      {{}, "ClusterVersion has no status yet"},
      {{condition("Available", "True")}, std::nullopt},
      {{condition("Available", "False"), condition("Progressing", "True", "12 of 90 manifests")}, "12 of 90 manifests"},
      {{condition("Available", "True"), condition("Failing", "True", "etcd is Degraded")}, "etcd is Degraded"},
      {{condition("Available", "True"), condition("Failing", "False", "before")}, std::nullopt},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(not_available({{"status", {{"conditions", c.conditions}}}}), c.reason)
        << emit_json(c.conditions, JsonStyle::compact);
  }
}

TEST(UnsettledOperators, AreNamedWithTheirWords) {
  const Json well = operator_with("etcd", {condition("Available", "True"), condition("Progressing", "False"),
                                           condition("Degraded", "False"), condition("Upgradeable", "False")});
  EXPECT_EQ(unsettled_operators({well}), std::nullopt);
  EXPECT_EQ(unsettled_operators({}), "no ClusterOperator exists yet");
  EXPECT_EQ(unsettled_operators({operator_with("dns", {condition("Available", "False", "no pod")}), well,
                                 operator_with("ingress", {condition("Available", "True"), condition("Degraded", "True", "d"),
                                                           condition("Progressing", "True", "p")}),
                                 operator_with("network", {condition("Available", "True"), condition("Progressing", "True")}),
                                 operator_with("new", {})}),
            "dns is not Available: no pod; ingress is Degraded: d; network is Progressing; new is not Available");
}

TEST(OperatorLines, AreOfWhatIsNotAsItShouldBe) {
  Json degraded = condition("Degraded", "True", "no quorum");
  degraded.get_object()["reason"] = "MembersDown";
  const std::vector<Json> operators = {
      operator_with("well", {condition("Available", "True"), condition("Progressing", "False"), condition("Degraded", "False"),
                             condition("Upgradeable", "False")}),
      operator_with("etcd", {condition("Available", "True"), degraded, condition("Progressing", "True", "1 of 3")}),
      operator_with("dns", {condition("Available", "False"), condition("RecentBackup", "Unknown", "none yet")}),
  };
  EXPECT_EQ(
      operator_lines(operators),
      (std::vector<OperatorLine>{{Level::error, "cluster operator etcd: Degraded is True with reason MembersDown: no quorum"},
                                 {Level::info, "cluster operator etcd: Progressing is True: 1 of 3"},
                                 {Level::error, "cluster operator dns: Available is False"},
                                 {Level::info, "cluster operator dns: RecentBackup is Unknown: none yet"}}));
  const std::vector<Json> settled = {operator_with("a", {condition(std::string(kube::settings_ignored), "False", "none")}),
                                     operator_with("b", {condition(std::string(kube::settings_ignored), "True", "x")})};
  EXPECT_EQ(operator_lines(settled),
            (std::vector<OperatorLine>{{Level::info, "cluster operator b: SettingsIgnored is True: x"}}));
  EXPECT_EQ(ignored_settings(settled), (std::vector<std::string>{"cluster operator b: x"}));
  EXPECT_FALSE(all_are_healthy(operators));
  EXPECT_FALSE(all_are_healthy({}));
  EXPECT_TRUE(
      all_are_healthy({operators[0], operator_with("new", {condition("Available", "True"), condition("Progressing", "True")})}));
}

// A complete cluster; tests break one condition each.
class ConditionsTest : public testing::Test {
 protected:
  ConditionsTest() {
    config.platform.local.emplace();
    config.control_plane.replicas = 1;
    config.compute = {{.name = "worker", .replicas = 1}};
    kube.serve(kube::types::etcds);
    kube.serve(kube::types::kube_apiservers);
    kube.serve_openshift();
    kube.put(node_of("True"));
    kube.put(bootstrap("complete"));
    kube.put(etcd("True"));
    kube.put(api_server(JsonArray{{{"nodeName", "master-0"}, {"currentRevision", 1}}}));
    kube.put(table_of("worker-7"));
    kube.put(node_of("True", "worker-7"));
    kube.put(operator_with("dns", {condition("Available", "True")}));
    kube.put(version("True"));
  }

  static Json node_of(std::string ready, std::string name = "master-0") {
    Json object = node(std::move(name), std::move(ready));
    object.get_object()["apiVersion"] = "v1";
    object.get_object()["kind"] = "Node";
    return object;
  }
  static Json bootstrap(std::string status) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"name", "bootstrap"}, {"namespace", "kube-system"}}},
            {"data", {{"status", status}}}};
  }
  static Json of_cluster(std::string api_version, std::string kind, std::string name, Json condition) {
    return {{"apiVersion", api_version},
            {"kind", kind},
            {"metadata", {{"name", name}}},
            {"status", {{"conditions", JsonArray{std::move(condition)}}}}};
  }
  static Json table_of(std::string worker) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"name", "machine-addresses"}, {"namespace", "openshift-config"}}},
            {"data",
             {{"machines", fmt::format(R"([{{"name":"master-0","role":"master"}},{{"name":"{}","role":"worker"}}])", worker)}}}};
  }
  static Json etcd(std::string is_removed) {
    return of_cluster("operator.openshift.io/v1", "Etcd", "cluster", condition("EtcdBootstrapMemberRemoved", is_removed));
  }
  static Json api_server(JsonArray nodes) {
    return {{"apiVersion", "operator.openshift.io/v1"},
            {"kind", "KubeAPIServer"},
            {"metadata", {{"name", "cluster"}}},
            {"status", {{"nodeStatuses", std::move(nodes)}}}};
  }
  static Json version(std::string is_available) {
    return of_cluster("config.openshift.io/v1", "ClusterVersion", "version", condition("Available", is_available));
  }

  Result<> wait(const std::vector<Condition>& conditions, std::string why = "") {
    Steps steps;
    return wait_for_all(
        test.context(), kube, conditions, [why] { return why; }, steps);
  }

  testing_support::FakeKube kube;
  testing_support::TestContext test;
  config::InstallConfig config;
};

TEST_F(ConditionsTest, AreStepsInOrder) {
  ASSERT_TRUE(wait(bootstrap_conditions(config)).ok());
  EXPECT_EQ(test.event_lines(), (std::vector<std::string>{"step kubernetes-api started", "step kubernetes-api finished",
                                                          "step control-plane-nodes started", "step control-plane-nodes finished",
                                                          "step bootstrap-complete started", "step bootstrap-complete finished",
                                                          "step bootstrap-member started", "step bootstrap-member finished"}));
  const Result<> installed = wait(install_conditions(config));
  ASSERT_TRUE(installed.ok()) << installed.error().message();
  EXPECT_EQ(kube.writes(), 0);
  // On platforms where users add workers themselves there is no table. Clusters without workers have no such step.
  kube.drop(kube::types::config_maps, "openshift-config", "machine-addresses");
  kube.drop(kube::types::nodes, "", "worker-7");
  EXPECT_TRUE(wait(install_conditions(config)).ok());
  EXPECT_EQ(install_conditions(config).size(), 5u);
  config.compute[0].replicas = 0;
  EXPECT_EQ(install_conditions(config).size(), 4u);
}

// On other platforms slipway does not choose the names of the machines.
TEST_F(ConditionsTest, CountControlPlaneNodesOnOtherPlatforms) {
  config.platform.local.reset();
  config.compute.clear();
  kube.drop(kube::types::nodes, "", "master-0");
  Json other = node_of("False");
  other.get_object()["metadata"].get_object()["name"] = "rack-4.example.com";
  kube.put(other);
  const Result<> waited = wait(bootstrap_conditions(config));
  ASSERT_FALSE(waited.ok());
  EXPECT_NE(waited.error().message().find("0 of 1 control plane nodes are Ready: node rack-4.example.com is not Ready"),
            std::string::npos)
      << waited.error().message();
  other.get_object()["status"] = node_of("True").get_object()["status"];
  kube.put(other);
  EXPECT_TRUE(wait(bootstrap_conditions(config)).ok());
  const Result<> installed = wait(install_conditions(config));
  EXPECT_TRUE(installed.ok()) << installed.error().message();
}

TEST_F(ConditionsTest, SayWhatIsMissingAndWhatIsKnownAboutIt) {
  struct Case {
    Json object;
    std::string step, words;
  };
  const Case cases[] = {
      {node_of("False"), "control-plane-nodes", "node master-0 is not Ready; stage x failed"},
      {bootstrap("running"), "bootstrap-complete", "ConfigMap kube-system/bootstrap: status is not complete; stage x failed"},
      {etcd("False"), "bootstrap-member", "the etcd operator has not removed member etcd-bootstrap; stage x failed"},
      {api_server(JsonArray{{{"nodeName", "master-0"}}}), "api-servers", "0 of 1 API servers are ready; stage x failed"},
      {table_of("worker-0"), "worker-nodes", "node worker-0 is not registered; stage x failed"},
      {node_of("False", "worker-7"), "worker-nodes", "node worker-7 is not Ready; stage x failed"},
      {operator_with("dns", {condition("Available", "False", "no pod")}), "cluster-operators",
       "dns is not Available: no pod; stage x failed"},
      {version("False"), "cluster-version", "ClusterVersion has no status yet; stage x failed"},
  };
  for (const Case& c : cases) {
    const std::string kind(find_string(c.object, {"kind"}).value_or(""));
    const kube::ResourceType type = kind == "Node"              ? kube::types::nodes
                                    : kind == "ConfigMap"       ? kube::types::config_maps
                                    : kind == "Etcd"            ? kube::types::etcds
                                    : kind == "KubeAPIServer"   ? kube::types::kube_apiservers
                                    : kind == "ClusterOperator" ? kube::types::cluster_operators
                                                                : kube::types::cluster_versions;
    const Json before = *kube.stored(type, std::string(kube::namespace_of(c.object)), std::string(kube::name_of(c.object)));
    kube.put(c.object);
    std::vector<Condition> all = bootstrap_conditions(config);
    std::ranges::move(install_conditions(config), std::back_inserter(all));
    const Result<> waited = wait(all, "stage x failed");
    ASSERT_FALSE(waited.ok()) << c.step;
    EXPECT_EQ(waited.error().code(), Code::timeout);
    EXPECT_NE(waited.error().message().find(c.words), std::string::npos) << waited.error().message();
    EXPECT_EQ(test.event_lines().back(), "step " + c.step + " failed");
    kube.put(before);
  }
}

}  // namespace
}  // namespace slipway::cluster
