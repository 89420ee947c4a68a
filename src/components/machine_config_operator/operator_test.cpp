#include "components/machine_config_operator/operator.h"

#include "base/digest.h"
#include "components/machine_config_operator/pools.h"
#include "components/render/manifest.h"
#include "kube/conditions.h"
#include "machineconfig/controller_config.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::machine_config_operator {
namespace {

namespace types = kube::types;

constexpr WallTime now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};

Json config_object(std::string_view kind, JsonObject spec, JsonObject status = {}) {
  return {{"apiVersion", "config.openshift.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", "cluster"}, {"resourceVersion", "7"}, {"managedFields", JsonArray{"long"}}}},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

struct Cluster {
  Cluster() {
    view.put({{"apiVersion", "config.openshift.io/v1"},
              {"kind", "ClusterVersion"},
              {"metadata", {{"name", "version"}}},
              {"status", {{"desired", {{"image", "release@sha256:0"}}}}}});
    view.put(config_object("Infrastructure", {{"cloudConfig", {{"name", ""}}}},
                           {{"apiServerInternalURI", "https://api-int.demo:6443"}}));
    view.put(config_object("DNS", {{"baseDomain", "demo"}}));
    view.put(config_object("Proxy", {}, {{"httpProxy", "http://p:1"}}));
    view.put(
        config_object("Network", {{"networkType", "Flannel"},
                                  {"serviceNetwork", JsonArray{"172.30.0.0/16"}},
                                  {"clusterNetwork", JsonArray{JsonObject{{"cidr", "10.128.0.0/14"}, {"hostPrefix", 23}}}}}));
    view.put(config_map(
        {"kube-system", "cluster-config-v1"},
        {{"install-config", "metadata: {name: demo}\nplatform: {local: {apiVIPs: [10.97.77.5], ingressVIPs: [10.97.77.7]}}\n"}}));
    view.put(config_map({"kube-system", "root-ca"}, {{"ca.crt", "root"}}));
    view.put(config_map({"openshift-config", "initial-kube-apiserver-server-ca"}, {{"ca-bundle.crt", "initial"}}));
    view.put(config_map({"openshift-machine-config-operator", "machine-config-operator-images"}, {{"images.json", images}}));
  }

  DesiredState desired_state() const {
    const Result<DesiredState> made = make_operator("0.1.0").desired_state(view.snapshot(), now);
    EXPECT_TRUE(made.ok()) << made.error().message();
    return made.ok() ? made.value() : DesiredState{};
  }

  machineconfig::ControllerConfig controller_config() const {
    const Json* object = wished(desired_state(), types::controller_configs, "machine-config-controller");
    EXPECT_NE(object, nullptr);
    return object ? machineconfig::parse_controller_config(*object, "ControllerConfig").value()
                  : machineconfig::ControllerConfig{};
  }

  const Json* wished(const DesiredState& made, const kube::ResourceType& type, std::string_view name) const {
    last = made;
    for (const DesiredObject& desired : last.plan.desired_objects) {
      if (desired.type == type && kube::name_of(desired.object) == name) return &desired.object;
    }
    return nullptr;
  }

  View view;
  mutable DesiredState last;
  const std::string images = R"({"machine-config-operator":"mco@sha256:1","pod":"pod@sha256:2","machine-os":"os@sha256:3",)"
                             R"("machine-os-extensions":"e@sha256:8",)"
                             R"("keepalived-ipfailover":"k@sha256:4","haproxy-router":"h@sha256:5",)"
                             R"("baremetal-runtimecfg":"r@sha256:6","coredns":"c@sha256:7"})";
};

const Condition* find_condition(const std::vector<Condition>& all, std::string_view type) {
  const auto found = std::ranges::find(all, type, &Condition::type);
  return found == all.end() ? nullptr : &*found;
}

TEST(MachineConfigOperator, GivesTheControllerTheInputsOfTheBootstrapMachine) {
  Cluster cluster;
  const machineconfig::ControllerConfig config = cluster.controller_config();
  EXPECT_EQ(config.version, "0.1.0");
  EXPECT_EQ(config.release_image, "release@sha256:0");
  EXPECT_EQ(config.platform, "local");
  EXPECT_EQ(config.cluster_dns_ip, "172.30.0.10");
  EXPECT_EQ(config.ip_families, "IPv4");
  EXPECT_EQ(config.root_ca, "root");
  EXPECT_EQ(config.kubelet_client_ca, "initial");
  EXPECT_EQ(config.os_image, "os@sha256:3");
  EXPECT_EQ(config.extensions_image, "e@sha256:8");
  EXPECT_EQ(config.images.at("machineConfigOperator"), "mco@sha256:1");
  EXPECT_EQ(config.images.at("haproxyImage"), "h@sha256:5");
  EXPECT_EQ(config.api_vips, std::vector<std::string>{"10.97.77.5"});
  EXPECT_EQ(config.ingress_vips, std::vector<std::string>{"10.97.77.7"});
  EXPECT_EQ(config.internal_api_url(), "https://api-int.demo:6443");
  EXPECT_EQ(find_string(config.proxy, {"httpProxy"}), "http://p:1");
  // Metadata that changes would cause a write each time.
  EXPECT_EQ(config.infrastructure.at("metadata"), Json(JsonObject{{"name", "cluster"}}));
}

TEST(MachineConfigOperator, UsesTheClustersAuthoritiesAfterTheBootstrap) {
  Cluster cluster;
  cluster.view.put(config_map({"openshift-config-managed", "kube-apiserver-client-ca"}, {{"ca-bundle.crt", "managed"}}));
  EXPECT_EQ(cluster.controller_config().kubelet_client_ca, "initial");
  cluster.view.put(config_map({"kube-system", "bootstrap"}, {{"status", "complete"}}));
  EXPECT_EQ(cluster.controller_config().kubelet_client_ca, "managed");
}

Json machine_configuration(JsonArray files) {
  return {{"apiVersion", "operator.openshift.io/v1"},
          {"kind", "MachineConfiguration"},
          {"metadata", {{"name", "cluster"}, {"generation", 2}}},
          {"spec", {{"nodeDisruptionPolicy", {{"files", std::move(files)}}}}}};
}

TEST(MachineConfigOperator, ReportsThePolicyThatTheDaemonsUse) {
  Cluster cluster;
  EXPECT_EQ(find_condition(cluster.desired_state().conditions, "NodeDisruptionPolicyDegraded"), nullptr);
  const JsonArray none = {JsonObject{{"type", "None"}}};
  const auto file_paths = [](const Json& object) {
    std::vector<std::string> paths;
    for (const Json& file : find_array(object, {"status", "nodeDisruptionPolicyStatus", "clusterPolicies", "files"}))
      paths.push_back(text_of(file, {"path"}));
    return paths;
  };
  const auto plan = [&] { return cluster.wished(cluster.desired_state(), types::machine_configurations, "cluster"); };
  cluster.view.put(machine_configuration({JsonObject{{"path", "/etc/app"}, {"actions", none}}}));
  const Json* planned = plan();
  ASSERT_NE(planned, nullptr);
  const Json valid = *planned;
  EXPECT_EQ(valid.at("status").at("observedGeneration"), Json(2));
  EXPECT_EQ(kube::condition_status(valid, "NodeDisruptionPolicyDegraded"), "False");
  EXPECT_EQ(std::ranges::count(file_paths(valid), "/etc/app"), 1);
  EXPECT_FALSE(find_condition(cluster.desired_state().conditions, "NodeDisruptionPolicyDegraded")->is_true);
  cluster.view.put(valid);
  EXPECT_EQ(plan(), nullptr) << "nothing more to write";

  Json invalid = machine_configuration({JsonObject{{"path", "app"}, {"actions", none}}});
  invalid.as_object()["status"] = valid.at("status");
  cluster.view.put(invalid);
  planned = plan();
  ASSERT_NE(planned, nullptr);
  EXPECT_EQ(file_paths(*planned), file_paths(valid)) << "the last valid one";
  EXPECT_EQ(kube::condition_text(*planned, "NodeDisruptionPolicyDegraded", "reason"), "InvalidPolicy");
  const DesiredState state = cluster.desired_state();
  const Condition* condition = find_condition(state.conditions, "NodeDisruptionPolicyDegraded");
  ASSERT_NE(condition, nullptr);
  EXPECT_TRUE(condition->is_true);
  EXPECT_EQ(condition->message.find("spec.nodeDisruptionPolicy.files[0].path: 'app' is not an absolute path"), 0u)
      << condition->message;
}

TEST(MachineConfigOperator, StartsTheDaemonAfterTheHandover) {
  Cluster cluster;
  const auto daemon = [&] { return cluster.wished(cluster.desired_state(), types::daemon_sets, "machine-config-daemon"); };
  EXPECT_EQ(daemon(), nullptr);
  EXPECT_NE(cluster.wished(cluster.desired_state(), types::daemon_sets, "machine-config-server"), nullptr);
  // An existing DaemonSet is reconciled.
  cluster.view.put({{"apiVersion", "apps/v1"},
                    {"kind", "DaemonSet"},
                    {"metadata", {{"name", "machine-config-daemon"}, {"namespace", "openshift-machine-config-operator"}}}});
  EXPECT_NE(daemon(), nullptr);
  cluster.view.remove(types::daemon_sets, "openshift-machine-config-operator", "machine-config-daemon");
  cluster.view.put(config_map({"kube-system", "bootstrap"}, {{"status", "complete"}}));
  EXPECT_NE(daemon(), nullptr);
}

TEST(MachineConfigOperator, StartsTheDaemonAtOnceIfTheBootstrapWaitsForItsReports) {
  Cluster cluster;
  const Json waiting = {{"type", "Updated"}, {"status", "False"}, {"reason", "WaitingForImage"}};
  cluster.view.put({{"apiVersion", "machineconfiguration.openshift.io/v1"},
                    {"kind", "MachineConfigPool"},
                    {"metadata", {{"name", "master"}}},
                    {"status", {{"conditions", JsonArray{waiting}}}}});
  EXPECT_NE(cluster.wished(cluster.desired_state(), types::daemon_sets, "machine-config-daemon"), nullptr);
}

TEST(MachineConfigOperator, RunsControllerServerAndDaemon) {
  Cluster cluster;
  cluster.view.put(config_map({"kube-system", "bootstrap"}, {{"status", "complete"}}));
  const Json server = *cluster.wished(cluster.desired_state(), types::daemon_sets, "machine-config-server");
  const Json& pod = server.at("spec").at("template").at("spec");
  const Json& container = find_array(pod, {"containers"}).at(0);
  EXPECT_EQ(find_string(container, {"image"}), "mco@sha256:1");
  EXPECT_EQ(find_array(container, {"command"}),
            (JsonArray{"machine-config-server", "start", "--apiserver-url=https://api-int.demo:6443"}));
  for (const auto& [type, name] : {std::pair{types::deployments, "machine-config-controller"},
                                   {types::daemon_sets, "machine-config-daemon"},
                                   {types::machine_config_pools, "master"},
                                   {types::machine_config_pools, "worker"}}) {
    EXPECT_NE(cluster.wished(cluster.desired_state(), type, name), nullptr) << type.kind << " " << name;
  }
  // The operator must not grant permissions, since that would allow it to grant all of them. The release has the roles of these
  // three programs.
  for (const DesiredObject& desired : cluster.desired_state().plan.desired_objects)
    EXPECT_NE(desired.type.group, types::roles.group) << kube::describe(desired.object);
  // Pods without access to Services and the pod network use the API's own host name.
  for (const auto& [type, name] : {std::pair{types::deployments, "machine-config-controller"},
                                   {types::daemon_sets, "machine-config-server"},
                                   {types::daemon_sets, "machine-config-daemon"}}) {
    const Json workload = *cluster.wished(cluster.desired_state(), type, name);
    const Json& spec = workload.at("spec").at("template").at("spec");
    EXPECT_EQ(find(spec, {"hostNetwork"}) ? *find(spec, {"hostNetwork"}) : Json(), Json(true)) << name;
    std::map<std::string, std::string> variables;
    for (const Json& each : find_array(find_array(spec, {"containers"}).at(0), {"env"})) {
      variables[text_of(each, {"name"})] = find_string(each, {"value"}).value_or("");
    }
    EXPECT_EQ(variables["KUBERNETES_SERVICE_HOST"], "api-int.demo") << name;
    EXPECT_EQ(variables["KUBERNETES_SERVICE_PORT"], "6443") << name;
    EXPECT_EQ(variables["RELEASE_VERSION"], "0.1.0") << name;
    EXPECT_TRUE(variables.contains("NODE_NAME")) << name;
  }
}

TEST(MachineConfigOperator, ReportsWhatIsMissing) {
  const struct {
    kube::ResourceType type;
    std::string space, name, line;
  } cases[] = {{types::infrastructures, "", "cluster", "Infrastructure cluster"},
               {types::config_maps, "kube-system", "cluster-config-v1", "ConfigMap kube-system/cluster-config-v1"},
               {types::config_maps, "openshift-config", "initial-kube-apiserver-server-ca",
                "ConfigMap openshift-config/initial-kube-apiserver-server-ca"},
               {types::config_maps, "openshift-machine-config-operator", "machine-config-operator-images",
                "ConfigMap openshift-machine-config-operator/machine-config-operator-images"}};
  for (const auto& each : cases) {
    Cluster cluster;
    cluster.view.remove(each.type, each.space, each.name);
    const DesiredState desired_state = cluster.desired_state();
    const Condition* degraded = find_condition(desired_state.conditions, "ControllerConfigDegraded");
    ASSERT_NE(degraded, nullptr);
    EXPECT_TRUE(degraded->is_true);
    EXPECT_NE(degraded->message.find(each.line), std::string::npos) << degraded->message;
    EXPECT_EQ(cluster.wished(desired_state, types::controller_configs, "machine-config-controller"), nullptr);
    EXPECT_NE(cluster.wished(desired_state, types::machine_config_pools, "master"), nullptr);
  }
}

TEST(MachineConfigOperator, ACertificateThatCannotBeReadStopsOnlyItsRenewal) {
  Cluster cluster;
  EXPECT_FALSE(find_condition(cluster.desired_state().conditions, "ServerCertificateDegraded")->is_true);
  cluster.view.put({{"apiVersion", "v1"},
                    {"kind", "Secret"},
                    {"metadata", {{"namespace", "openshift-machine-config-operator"}, {"name", "machine-config-server-tls"}}},
                    {"data", {{"tls.crt", base64_encode("no certificate")}}}});
  const DesiredState desired_state = cluster.desired_state();
  const Condition* degraded = find_condition(desired_state.conditions, "ServerCertificateDegraded");
  EXPECT_TRUE(degraded->is_true);
  EXPECT_TRUE(degraded->message.starts_with("Secret openshift-machine-config-operator/machine-config-server-tls"))
      << degraded->message;
  EXPECT_NE(cluster.wished(desired_state, types::daemon_sets, "machine-config-server"), nullptr);
}

Json pool(std::string_view name, int all, int updated, JsonObject spec = {}, std::string_view degraded = "") {
  const JsonArray conditions = {
      JsonObject{{"type", "Updated"}, {"status", all == updated ? "True" : "False"}},
      JsonObject{{"type", "Updating"}, {"status", all == updated ? "False" : "True"}, {"message", "they come"}},
      JsonObject{{"type", "Degraded"}, {"status", degraded.empty() ? "False" : "True"}, {"message", degraded}}};
  JsonObject status = {{"machineCount", all}, {"updatedMachineCount", updated}, {"conditions", conditions}};
  if (all > 0 || name == "worker") status["configuration"] = JsonObject{{"name", "rendered"}};
  return {{"apiVersion", "machineconfiguration.openshift.io/v1"},
          {"kind", "MachineConfigPool"},
          {"metadata", {{"name", name}}},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

// A pool whose image is being built, or could not be built.
Json waiting_pool(std::string_view name, int all, std::string_view degraded = "") {
  Json made = pool(name, all, 0, {}, degraded);
  made.at("status").as_object().erase("configuration");
  made.at("status").at("conditions").as_array()[0].as_object()["reason"] = waits_for_image_reason;
  return made;
}

TEST(PoolConditions, ReportProgress) {
  const struct {
    const char* what;
    std::vector<Json> pools;
    bool available, progressing, degraded, upgradeable;
    std::string message;  // part of the message of any condition
  } cases[] = {
      {"nothing yet", {}, false, true, false, true, "master: no machine has reached a config yet"},
      {"no master yet", {pool("master", 0, 0), pool("worker", 0, 0)}, false, false, false, true, "master"},
      {"done", {pool("master", 3, 3), pool("worker", 2, 2)}, true, false, false, true, ""},
      {"no workers", {pool("master", 1, 1), pool("worker", 0, 0)}, true, false, false, true, ""},
      {"a worker joins",
       {pool("master", 3, 3), pool("worker", 2, 1)},
       true,
       true,
       false,
       false,
       "worker: 1 of 2 machines are updated"},
      {"a build of an image runs", {pool("master", 3, 3), waiting_pool("worker", 2)}, true, false, false, false, "they come"},
      {"a build of the image of masters runs",
       {waiting_pool("master", 3), pool("worker", 2, 2)},
       true,
       true,
       false,
       false,
       "master: 0 of 3 machines are updated"},
      {"a build of an image failed",
       {pool("master", 3, 3), waiting_pool("worker", 2, "line 2: no")},
       true,
       false,
       true,
       false,
       "worker: line 2: no"},
      {"paused", {pool("master", 3, 3), pool("worker", 2, 1, {{"paused", true}})}, true, false, false, false, "they come"},
      {"degraded",
       {pool("master", 3, 3), pool("worker", 2, 2, {}, "Node worker-0 is Degraded: no")},
       true,
       false,
       true,
       true,
       "worker: Node worker-0 is Degraded: no"},
  };
  for (const auto& each : cases) {
    View view;
    for (const Json& object : each.pools) view.put(object);
    const std::vector<Condition> conditions = pool_conditions(view.snapshot());
    std::string messages;
    for (const Condition& condition : conditions) messages += condition.message + "\n";
    const auto is_true = [&](std::string_view type) { return find_condition(conditions, type)->is_true; };
    EXPECT_EQ(is_true("PoolsAvailable"), each.available) << each.what;
    EXPECT_EQ(is_true("PoolsProgressing"), each.progressing) << each.what;
    EXPECT_EQ(is_true("PoolsDegraded"), each.degraded) << each.what;
    EXPECT_EQ(is_true("PoolsUpgradeable"), each.upgradeable) << each.what;
    EXPECT_NE(messages.find(each.message), std::string::npos) << each.what << ": " << messages;
  }
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
