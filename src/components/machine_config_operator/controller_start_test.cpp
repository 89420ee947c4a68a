#include "components/machine_config_operator/controller_start.h"

#include "base/digest.h"
#include "components/machine_config_operator/inputs.h"
#include "components/render/manifest.h"
#include "kube/conditions.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/node_annotations.h"

#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace slipway::components::machine_config_operator {
namespace {

namespace mc = machineconfig;
namespace types = kube::types;
using testing_support::FakeKube;
using testing_support::RealTimeContext;

std::string note(const Json& object, std::string_view key) { return text_of(object, {"metadata", "annotations", key}); }

// Masters and workers whose daemons apply every request at once.
class Cluster {
 public:
  Cluster() {
    kube.serve_openshift();
    for (const slipway::kube::ResourceType& type :
         {types::controller_configs, types::machine_configs, types::machine_config_pools, types::machine_config_nodes,
          types::machine_os_configs, types::machine_os_builds, types::jobs, types::schedulers}) {
      kube.serve(type);
    }
    for (const auto& [group, version, plural, kind] :
         {std::tuple{"config.openshift.io", "v1", "imagedigestmirrorsets", "ImageDigestMirrorSet"},
          {"config.openshift.io", "v1", "imagetagmirrorsets", "ImageTagMirrorSet"},
          {"operator.openshift.io", "v1alpha1", "imagecontentsourcepolicies", "ImageContentSourcePolicy"},
          {"machineconfiguration.openshift.io", "v1", "kubeletconfigs", "KubeletConfig"},
          {"machineconfiguration.openshift.io", "v1", "containerruntimeconfigs", "ContainerRuntimeConfig"}}) {
      kube.serve(slipway::kube::ResourceType{group, version, plural, kind, false});
    }
    const machineconfig::ControllerConfig config{
        .version = "0.1.0",
        .platform = "none",
        .cluster_dns_ip = "172.30.0.10",
        .images = {{"machineConfigOperator", "mco@sha256:1"}, {"infraImageKey", "pod@sha256:2"}},
        .os_image = "os@sha256:3",
        .infrastructure = {{"status", {{"apiServerInternalURI", "https://api-int.demo:6443"}}}}};
    kube.put(machineconfig::to_json(config));
    for (std::string_view role : {"master", "worker"}) kube.put(built_in_pool(role));
    kube.put({{"apiVersion", "v1"},
              {"kind", "Secret"},
              {"metadata", {{"name", "pull-secret"}, {"namespace", "openshift-config"}}},
              {"data", {{".dockerconfigjson", base64_encode("{}")}}}});
    kube.put(config_map({"kube-system", "bootstrap"}, {{"status", "complete"}}));
    for (int i = 0; i < 3; ++i) {
      node("master", i);
      node("worker", i);
    }
    kube.after_write = [this](const Json& written) { after(written); };
  }

  void run() {
    View view;
    MachineConfigController controller(kube, view, {.version = "0.1.0", .own_node = "master-0", .own_pod = "own"});
    const Result<> done =
        reconcile(test.context(), kube,
                  {.manager = "machine-config-controller",
                   .watched = MachineConfigController::watched(),
                   .plan = [&](const Snapshot& seen, WallTime now) -> Result<Plan> { return controller.plan(seen, now); },
                   .view = view});
    EXPECT_EQ(done.error().code(), Code::cancelled) << done.error().message();
  }

  RealTimeContext test;
  FakeKube kube;
  std::string failing;             // this node fails to apply any config
  std::vector<std::string> order;  // nodes in the order in which they were drained
  std::size_t most_at_once = 0;    // maximum number of cordoned nodes of a pool
  std::function<bool()> is_done;

 private:
  void node(const std::string& role, int number) {
    const std::string name = fmt::format("{}-{}", role, number);
    JsonArray ready = {JsonObject{{"type", "Ready"}, {"status", "True"}}};
    kube.put({{"apiVersion", "v1"},
              {"kind", "Node"},
              {"metadata",
               {{"name", name},
                {"labels", {{"node-role.kubernetes.io/" + role, ""}}},
                {"annotations",
                 {{mc::current_config, "rendered-old"}, {mc::desired_config, "rendered-old"}, {mc::daemon_state, "Done"}}}}},
              {"spec", JsonObject()},
              {"status", {{"conditions", ready}}}});
    for (const std::string pod : {"etcd", "kube-apiserver"}) {
      kube.put({{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata", {{"name", fmt::format("{}-{}", pod, name)}, {"namespace", "openshift-" + pod}}},
                {"status", {{"conditions", ready}}}});
    }
  }

  void say(Json node, const JsonObject& notes) {
    JsonObject& known = node.as_object()["metadata"].as_object()["annotations"].as_object();
    for (const auto& [key, value] : notes) known[key] = value;
    kube.put(std::move(node));
  }

  void after(const Json& written) {
    if (find_string(written, {"kind"}) == "Node") daemon(*kube.stored(types::nodes, "", std::string(kube::name_of(written))));
    count();
    if (is_done && is_done()) test.stop.request_stop();
  }

  void daemon(const Json& node) {
    const std::string current = note(node, mc::current_config), desired = note(node, mc::desired_config);
    const std::string drain = note(node, mc::desired_drain), applied = note(node, mc::last_applied_drain);
    if (current == desired) return;
    if (kube::name_of(node) == failing) return say(node, {{mc::daemon_state, "Degraded"}, {mc::daemon_reason, "no space left"}});
    if (drain != "drain-" + desired) return say(node, {{mc::daemon_state, "Working"}, {mc::desired_drain, "drain-" + desired}});
    if (applied != drain) return;
    order.emplace_back(kube::name_of(node));
    say(node, {{mc::daemon_state, "Done"}, {mc::current_config, desired}, {mc::desired_drain, "uncordon-" + desired}});
  }

  void count() {
    std::map<std::string, std::size_t> closed;
    for (const Json& node : kube.stored_all(types::nodes)) {
      const Json* value = find(node, {"spec", "unschedulable"});
      if (value && *value == Json(true)) ++closed[std::string(kube::name_of(node).substr(0, 6))];
    }
    for (const auto& [role, number] : closed) most_at_once = std::max(most_at_once, number);
  }
};

bool is_updated(const FakeKube& kube, const std::string& pool) {
  const std::optional<Json> object = kube.stored(types::machine_config_pools, "", pool);
  const Json* count = find(*object, {"status", "readyMachineCount"});
  return kube::condition_status(*object, "Updated") == "True" && count && *count == Json(3);
}

TEST(MachineConfigController, RollsOutTheConfigOneNodeAfterAnother) {
  Cluster cluster;
  cluster.is_done = [&] { return is_updated(cluster.kube, "master") && is_updated(cluster.kube, "worker"); };
  cluster.run();
  EXPECT_EQ(cluster.most_at_once, 1u);
  ASSERT_EQ(cluster.order.size(), 6u);
  EXPECT_EQ(std::set<std::string>(cluster.order.begin(), cluster.order.end()).size(), 6u) << "each once";
  const auto place = [&](std::string_view name) { return std::ranges::find(cluster.order, name) - cluster.order.begin(); };
  EXPECT_GT(place("master-0"), place("master-2")) << "it runs the controller";
  for (const Json& node : cluster.kube.stored_all(types::nodes)) {
    const Json* closed = find(node, {"spec", "unschedulable"});
    EXPECT_TRUE(!closed || *closed != Json(true)) << kube::name_of(node);
  }
  const Json worker = *cluster.kube.stored(types::machine_config_pools, "", "worker");
  EXPECT_EQ(find_string(worker, {"status", "configuration", "name"}), find_string(worker, {"spec", "configuration", "name"}));
  EXPECT_TRUE(cluster.kube.stored(types::machine_config_nodes, "", "worker-1").has_value());
}

TEST(MachineConfigController, StopsAtTheFirstNodeThatFails) {
  Cluster cluster;
  cluster.failing = "worker-0";
  cluster.is_done = [&] {
    const std::optional<Json> pool = cluster.kube.stored(types::machine_config_pools, "", "worker");
    return is_updated(cluster.kube, "master") && kube::condition_status(*pool, "Degraded") == "True";
  };
  cluster.run();
  EXPECT_EQ(std::ranges::count_if(cluster.order, [](const std::string& name) { return name.starts_with("worker"); }), 0);
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
