#include "components/machine_config_operator/controller.h"

#include "machineconfig/controller_config.h"
#include "machineconfig/types.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::components::machine_config_operator {
namespace {

using testing_support::OperatorEnvironment;

std::string pool(std::string_view name, bool built_in, std::string_view note = "") {
  return fmt::format(
      "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata:\n  name: {0}\n  annotations: {{note: "
      "'{2}'}}\n"
      "  labels: {{for: test, {1}}}\nspec:\n  machineConfigSelector: {{matchLabels: {{machineconfiguration.openshift.io/role: "
      "{0}}}}}\n",
      name, built_in ? "machineconfiguration.openshift.io/mco-built-in: ''" : "", note);
}

std::string kubelet_config(std::string_view name) {
  return fmt::format(
      "apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nmetadata: {{name: {}}}\nspec: {{kubeletConfig: "
      "{{maxPods: "
      "5}}, machineConfigPoolSelector: {{matchExpressions: [{{key: size, operator: NotIn, values: [big]}}, {{key: for, operator: "
      "Exists}}]}}}}\n",
      name);
}

constexpr std::string_view user_config = R"(apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-motd
  labels: {machineconfiguration.openshift.io/role: master}
spec:
  config:
    ignition: {version: 3.1.0}
    storage: {files: [{path: /etc/motd, contents: {source: "data:,mine"}}]}
)";

void put_inputs(OperatorEnvironment& world) {
  const machineconfig::ControllerConfig config{
      .version = "0.1.0",
      .platform = "local",
      .cluster_dns_ip = "172.30.0.10",
      .images = {{"machineConfigOperator", "mco@sha256:1"}, {"infraImageKey", "pod@sha256:2"}},
      .os_image = "os@sha256:3",
      .infrastructure = {{"status", {{"apiServerInternalURI", "https://api-int.demo:6443"}}}}};
  world.put("/mcc/controllerconfig.yaml", emit_yaml(machineconfig::to_json(config)));
  world.put("/mcc/master.yaml", pool("master", true));
  world.put("/mcc/worker.yaml", pool("worker", true));
  world.put("/mcc/pull-secret", "kind: Secret\ndata: {.dockerconfigjson: eyJhdXRocyI6e319}\n");
  world.put("/mcc/crd.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\n");
}

Result<> run(OperatorEnvironment& world) {
  return run_controller_bootstrap(world.environment(), {"--manifest-dir=/mcc", "--dest-dir=/mcs",
                                                        "--pull-secret=/mcc/pull-secret", "--payload-version=0.1.0"});
}

std::string rendered_master(OperatorEnvironment& world) {
  const Result<YamlDocument> pool = parse_yaml(world.text("/mcs/machine-pools/master.yaml"), "master.yaml");
  const std::string name(find_string(pool->value, {"spec", "configuration", "name"}).value_or(""));
  return world.text("/mcs/machine-configs/" + name + ".yaml");
}

TEST(MachineConfigControllerBootstrap, RendersEveryPool) {
  OperatorEnvironment world;
  put_inputs(world);
  const Result<> done = run(world);
  ASSERT_TRUE(done.ok()) << done.error().message();
  const std::vector<std::string> names = world.names("/mcs");
  ASSERT_EQ(names.size(), 5u);
  EXPECT_EQ(names[0], "controller-config/machine-config-controller.yaml");
  EXPECT_TRUE(names[1].starts_with("machine-configs/rendered-master-"));
  EXPECT_TRUE(names[2].starts_with("machine-configs/rendered-worker-"));
  EXPECT_EQ(names[3], "machine-pools/master.yaml");
  EXPECT_EQ(names[4], "machine-pools/worker.yaml");
}

TEST(MachineConfigControllerBootstrap, IncludesMachineConfigsOfUsers) {
  OperatorEnvironment world;
  put_inputs(world);
  world.put("/mcc/99-user.yaml", user_config);
  ASSERT_TRUE(run(world).ok());
  EXPECT_NE(rendered_master(world).find("data:,mine"), std::string::npos);
  EXPECT_NE(world.text("/mcs/machine-pools/master.yaml").find("name: 99-motd"), std::string::npos);
}

TEST(MachineConfigControllerBootstrap, AUsersObjectReplacesTheGeneratedOne) {
  OperatorEnvironment world;
  put_inputs(world);
  world.put("/mcc/00-user-pool.yaml", pool("master", false, "mine"));
  std::string config(user_config);
  config.replace(config.find("99-motd"), 7, "00-master");
  world.put("/mcc/00-user.yaml", config);
  ASSERT_TRUE(run(world).ok());
  EXPECT_NE(world.text("/mcs/machine-pools/master.yaml").find("note: mine"), std::string::npos);
  EXPECT_EQ(rendered_master(world).find("machine-config-daemon-pull"), std::string::npos);
}

TEST(MachineConfigControllerBootstrap, RendersMirrorsIntoTheConfigOfContainerd) {
  OperatorEnvironment world;
  put_inputs(world);
  world.put("/mcc/mirrors.yaml",
            "apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata: {name: m}\n"
            "spec: {imageDigestMirrors: [{source: r.example.com, mirrors: ['m:5000']}]}\n");
  ASSERT_TRUE(run(world).ok());
  EXPECT_NE(rendered_master(world).find("/etc/containerd/certs.d/r.example.com/hosts.toml"), std::string::npos);
}

TEST(MachineConfigControllerBootstrap, Refuses) {
  struct Case {
    const char* what;
    std::string file, content, message;
  };
  for (const Case& c :
       {Case{"broken YAML", "/mcc/a.yaml", "a: [", "a.yaml"},
        Case{"a ControllerConfig of another version", "/mcc/controllerconfig.yaml",
             "apiVersion: machineconfiguration.openshift.io/v1\nkind: ControllerConfig\nspec: {}\n", "version"},
        Case{"no ControllerConfig", "/mcc/controllerconfig.yaml", "", "ControllerConfig not found"},
        Case{"two pools of a user", "/mcc/pools.yaml", pool("infra", false) + "---\n" + pool("infra", false), "duplicate pool"},
        Case{"what it would ignore", "/mcc/kubelet.yaml",
             "apiVersion: machineconfiguration.openshift.io/v1\nkind: ContainerRuntimeConfig\nmetadata: {name: k}\nspec: "
             "{containerRuntimeConfig: {overlaySize: 8Gi}}\n",
             "/mcc/kubelet.yaml:4:33: error: spec.containerRuntimeConfig.overlaySize: is not supported: containerd"},
        Case{"two objects for one pool", "/mcc/kubelet.yaml", kubelet_config("a") + "---\n" + kubelet_config("b"),
             "pool master is selected by 2 KubeletConfigs: a, b (at install time a pool may have one: merge them)"}}) {
    OperatorEnvironment world;
    put_inputs(world);
    world.put(c.file, c.content);
    const Result<> done = run(world);
    ASSERT_FALSE(done.ok()) << c.what;
    EXPECT_NE(done.error().message().find(c.message), std::string::npos) << c.what << ": " << done.error().message();
    EXPECT_TRUE(world.names("/mcs").empty()) << c.what;
  }
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
