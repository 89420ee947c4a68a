#include "components/machine_config_operator/bootstrap.h"

#include "base/yaml.h"
#include "machineconfig/controller_config.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::components::machine_config_operator {
namespace {

using testing_support::OperatorEnvironment;

const std::string pull_secret =
    "# byte for byte\nkind: Secret\ntype: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: e30=}\n";

void put_inputs(OperatorEnvironment& world, std::string_view platform) {
  const std::string manifests = "/assets/manifests/";
  world.put(
      manifests + "cluster-config.yaml",
      fmt::format("kind: ConfigMap\ndata:\n  install-config: |\n    metadata: {{name: demo}}\n    platform: {}\n", platform));
  world.put(
      manifests + "cluster-infrastructure-02-config.yml",
      "kind: Infrastructure\nspec: {cloudConfig: {name: ''}}\nstatus: {apiServerInternalURI: 'https://api-int.demo:6443'}\n");
  world.put(manifests + "cluster-network-02-config.yml",
            "kind: Network\nspec: {networkType: Flannel, serviceNetwork: [172.30.0.0/16], "
            "clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}]}\n");
  world.put(manifests + "cluster-dns-02-config.yml", "kind: DNS\nspec: {baseDomain: demo}\n");
  world.put(manifests + "cluster-proxy-01-config.yaml", "kind: Proxy\nstatus: {httpProxy: 'http://p:1'}\n");
  world.put(manifests + "secret.yaml", pull_secret);
  world.put("/assets/tls/root-ca.crt", "root\n");
  world.put("/assets/tls/kube-ca.crt", "kube\n");
  world.put("/assets/image-references",
            R"({"kind":"ImageStream","spec":{"tags":[{"name":"machine-config-operator","from":{"name":"mco@sha256:1"}},)"
            R"({"name":"pod","from":{"name":"pod@sha256:2"}},{"name":"machine-os","from":{"name":"os@sha256:3"}},)"
            R"({"name":"machine-os-extensions","from":{"name":"extensions@sha256:7"}},)"
            R"({"name":"keepalived-ipfailover","from":{"name":"keepalived@sha256:4"}},)"
            R"({"name":"haproxy-router","from":{"name":"haproxy@sha256:6"}},)"
            R"({"name":"baremetal-runtimecfg","from":{"name":"runtimecfg@sha256:5"}}]}})");
}

// The flags of bootkube.sh.
Arguments flags() {
  return {"--root-ca=/assets/tls/root-ca.crt",
          "--kube-ca=/assets/tls/kube-ca.crt",
          "--config-file=/assets/manifests/cluster-config.yaml",
          "--dest-dir=/assets/mco-bootstrap",
          "--pull-secret=/assets/manifests/secret.yaml",
          "--release-image=release@sha256:0",
          "--image-references=/assets/image-references",
          "--payload-version=0.1.0"};
}

constexpr std::string_view local = "{local: {apiVIPs: [10.97.77.5], ingressVIPs: [10.97.77.7]}}";

TEST(MachineConfigOperatorBootstrap, WritesTheFilesOfTheContract) {
  OperatorEnvironment world;
  put_inputs(world, local);
  const Result<> done = run_bootstrap(world.environment(), flags());
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(world.names("/assets/mco-bootstrap"),
            (std::vector<std::string>{
                "bootstrap/machineconfigoperator-bootstrap-pod.yaml",
                "bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml",
                "bootstrap/manifests/machineconfigcontroller-pull-secret", "bootstrap/manifests/master.machineconfigpool.yaml",
                "bootstrap/manifests/worker.machineconfigpool.yaml", "local/manifests/keepalived.yaml",
                "local/static-pod-resources/keepalived/keepalived.conf.tmpl", "manifests/csr-bootstrap-role-binding.yaml",
                "manifests/keepalived-namespace.yaml", "manifests/keepalived-role-binding.yaml", "manifests/keepalived-role.yaml",
                "manifests/kube-apiserver-serving-ca-configmap.yaml"}));
  EXPECT_EQ(world.text("/assets/mco-bootstrap/bootstrap/manifests/machineconfigcontroller-pull-secret"), pull_secret);
  for (const std::string& name : world.names("/assets/mco-bootstrap")) {
    if (!name.ends_with(".yaml")) continue;
    const Result<YamlDocument> document = parse_yaml(world.text("/assets/mco-bootstrap/" + name), name);
    ASSERT_TRUE(document.ok()) << document.error().message();
    EXPECT_TRUE(find_string(document->value, {"kind"})) << name;
  }
}

TEST(MachineConfigOperatorBootstrap, GivesTheControllerTheInputsOfTemplates) {
  OperatorEnvironment world;
  put_inputs(world, local);
  ASSERT_TRUE(run_bootstrap(world.environment(), flags()).ok());
  const std::string path = "/assets/mco-bootstrap/bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml";
  const auto config = machineconfig::parse_controller_config(parse_yaml(world.text(path), path)->value, path);
  ASSERT_TRUE(config.ok()) << config.error().message();
  EXPECT_EQ(config->version, "0.1.0");
  EXPECT_EQ(config->platform, "local");
  EXPECT_EQ(config->cluster_dns_ip, "172.30.0.10");
  EXPECT_EQ(config->ip_families, "IPv4");
  EXPECT_EQ(config->kubelet_client_ca, "kube\n");
  EXPECT_EQ(config->os_image, "os@sha256:3");
  EXPECT_EQ(config->extensions_image, "extensions@sha256:7");
  EXPECT_EQ(config->images.at("infraImageKey"), "pod@sha256:2");
  EXPECT_EQ(config->images.at("haproxyImage"), "haproxy@sha256:6");
  EXPECT_EQ(config->images.at("corednsImage"), "");
  EXPECT_EQ(config->api_vips, std::vector<std::string>{"10.97.77.5"});
  EXPECT_EQ(config->internal_api_url(), "https://api-int.demo:6443");
  EXPECT_EQ(find_string(config->proxy, {"httpProxy"}), "http://p:1");
}

TEST(MachineConfigOperatorBootstrap, ReadsVirtualAddressesUnderEachNameThatPlatformsUse) {
  for (const char* platform :
       {"{baremetal: {apiVIPs: [10.0.0.5], ingressVIPs: [10.0.0.7]}}", "{vsphere: {apiVIP: 10.0.0.5, ingressVIP: 10.0.0.7}}",
        "{ovirt: {api_vips: [10.0.0.5], ingress_vips: [10.0.0.7]}}"}) {
    OperatorEnvironment world;
    put_inputs(world, platform);
    ASSERT_TRUE(run_bootstrap(world.environment(), flags()).ok()) << platform;
    const std::string path = "/assets/mco-bootstrap/bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml";
    const auto config = machineconfig::parse_controller_config(parse_yaml(world.text(path), path)->value, path);
    ASSERT_TRUE(config.ok()) << config.error().message();
    EXPECT_EQ(config->api_vips, std::vector<std::string>{"10.0.0.5"}) << platform;
    EXPECT_EQ(config->ingress_vips, std::vector<std::string>{"10.0.0.7"}) << platform;
  }
}

TEST(MachineConfigOperatorBootstrap, WithoutVirtualAddressesThereIsNoKeepalived) {
  OperatorEnvironment world;
  put_inputs(world, "{none: {}}");
  ASSERT_TRUE(run_bootstrap(world.environment(), flags()).ok());
  EXPECT_EQ(world.names("/assets/mco-bootstrap").size(), 7u);
}

TEST(MachineConfigOperatorBootstrap, ReportsEverythingThatIsMissing) {
  OperatorEnvironment world;
  const std::string message = run_bootstrap(world.environment(), flags()).error().message();
  for (const char* part : {"cluster-config.yaml", "cluster-infrastructure-02", "cluster-network-02", "cluster-dns-02",
                           "cluster-proxy-01", "root-ca.crt", "secret.yaml", "image-references"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in:\n" << message;
  }
}

TEST(MachineConfigOperatorBootstrap, AnImageFlagOverridesTheRelease) {
  OperatorEnvironment world;
  put_inputs(world, local);
  Arguments arguments = flags();
  arguments.push_back("--machine-config-operator-image=mine@sha256:9");
  ASSERT_TRUE(run_bootstrap(world.environment(), arguments).ok());
  const std::string pod = world.text("/assets/mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml");
  EXPECT_NE(pod.find("mine@sha256:9"), std::string::npos);
  EXPECT_EQ(pod.find("mco@sha256:1"), std::string::npos);
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
