#include "support/render_world.h"

#include "components/cloud_credential/render.h"
#include "components/cluster_version/render.h"
#include "components/config_operator/api_render.h"
#include "components/config_operator/operator_render.h"
#include "components/etcd/render.h"
#include "components/ingress/render.h"
#include "components/kube_apiserver/render.h"
#include "components/kube_controller_manager/render.h"
#include "components/kube_scheduler/render.h"
#include "components/machine_config_operator/bootstrap.h"
#include "components/node_tuning/render.h"
#include "components/runtimecfg/runtimecfg.h"
#include "data/data.h"
#include "support/golden.h"
#include "support/render_assets.h"

#include <gtest/gtest.h>

#include <sstream>

namespace slipway::testing_support {

namespace {

std::string image(std::string_view component) {
  return fmt::format("registry.slipway.invalid/slipway/release@sha256:{}", component);
}

// The files in the images of the components: CRDs, feature gates, manifests of the release. Here all are in one file system.
void put_images(sys::Files& files) {
  const auto put = [&](const std::string& path, std::string_view text) { ASSERT_TRUE(files.write(path, text, 0644).ok()); };
  const auto crd = [](std::string_view name, std::string_view more) {
    return fmt::format(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {}\n  annotations:\n"
        "    include.release.openshift.io/self-managed-high-availability: 'true'\n{}",
        name, more);
  };
  const std::string folder = "/usr/share/bootkube/manifests/";
  put(folder + "manifests/0000_10_config-operator_01_networks.crd.yaml",
      crd("networks.config.openshift.io", "    release.openshift.io/bootstrap-required: 'true'\n"));
  put(folder + "manifests/0000_50_ingress_00_ingresscontrollers-Default.crd.yaml",
      crd("ingresscontrollers.operator.openshift.io", ""));
  put(folder + "manifests/0000_40_cloud-credential_00_cloudcredentials.crd.yaml",
      crd("cloudcredentials.operator.openshift.io", ""));
  put(folder + "featuregates/featureGate-SelfManagedHA-Default.yaml",
      "metadata: {annotations: {include.release.openshift.io/self-managed-high-availability: 'true', "
      "release.openshift.io/feature-set: Default}}\nstatus: {featureGates: [{enabled: [{name: ImageVolume}, "
      "{name: OpenShiftPodSecurityAdmission}], disabled: [{name: RouteExternalCertificate}]}]}\n");
  put("/manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
      crd("clusterversions.config.openshift.io", "    release.openshift.io/feature-set: Default\n"));
  put("/release-manifests/release-metadata", R"({"kind":"cincinnati-metadata-v0","version":"0.1.0"})");
  put("/release-manifests/image-references",
      R"({"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"0.1.0"},"spec":{"tags":[]}})");
}

// The manifests in the golden file of a cluster with three masters on platform local, with the TLS folder and the images.
void put_input(sys::Files& files) {
  ASSERT_TRUE(put_render_assets(files, "/assets").ok());
  const auto put = [&](const std::string& path, std::string_view text) { ASSERT_TRUE(files.write(path, text, 0644).ok()); };
  // The golden file has "# FOLDER/NAME", the content, and "---" for each manifest (src/assets/manifests/manifests_test.cpp). The
  // stage openshift-manifests has copied the folder openshift into the folder manifests.
  std::string name, content;
  std::istringstream lines(golden("assets/local.yaml"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) {
      name = line.substr(line.find('/') + 1);
      content.clear();
    } else if (line == "---") {
      put("/assets/manifests/" + name, content);
    } else {
      content += line + "\n";
    }
  }
  // The path in the keepalived pod.
  put("/config/keepalived.conf.tmpl", data::content(data::machine_config(), "bootstrap/keepalived.conf.tmpl"));

  JsonArray tags;
  for (std::string_view component :
       {"baremetal-runtimecfg", "coredns", "docker-registry", "haproxy-router", "keepalived-ipfailover", "kube-rbac-proxy",
        "machine-config-operator", "machine-os", "oauth-proxy", "pod"}) {
    tags.push_back(Json{{"name", component}, {"from", {{"kind", "DockerImage"}, {"name", image(component)}}}});
  }
  const Json references{{"kind", "ImageStream"}, {"spec", {{"tags", tags}}}};
  put("/assets/image-references", emit_json(references, JsonStyle::pretty));
  put("/proc/sys/kernel/hostname", "bootstrap\n");
  put_images(files);
}

}  // namespace

const Component& first_component() {
  static const Component first = {"cluster-config-api",
                                  components::config_operator::run_api_render,
                                  {"--asset-output-dir=/assets/api-bootstrap", "--rendered-manifest-dir=/assets/manifests",
                                   "--cluster-profile=self-managed-high-availability", "--payload-version=0.1.0"}};
  return first;
}

const std::vector<Component>& other_components() {
  static const std::string infrastructure = "/assets/manifests/cluster-infrastructure-02-config.yml";
  static const std::string network = "/assets/manifests/cluster-network-02-config.yml";
  static const std::vector<Component> all = {
      {"cluster-config-operator",
       components::config_operator::run_operator_render,
       {"--skip-api-rendering", "--cluster-infrastructure-input-file=" + infrastructure,
        "--cloud-provider-config-output-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml",
        "--config-output-file=/assets/config-bootstrap/config", "--asset-input-dir=/assets/tls",
        "--asset-output-dir=/assets/config-bootstrap", "--rendered-manifest-files=/assets/manifests", "--payload-version=0.1.0"}},
      {"cluster-version-operator",
       components::cluster_version::run_render,
       {"--output-dir=/assets/cvo-bootstrap", "--release-image=" + image("release"),
        "--feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml"}},
      {"cluster-etcd-operator",
       components::etcd::run_render,
       {"--asset-output-dir=/assets/etcd-bootstrap", "--cluster-configmap-file=/assets/manifests/cluster-config.yaml",
        "--etcd-image=" + image("etcd"), "--infra-config-file=" + infrastructure, "--network-config-file=" + network}},
      {"cluster-kube-apiserver-operator",
       components::kube_apiserver::run_render,
       {"--manifest-etcd-serving-ca=etcd-ca-bundle.crt", "--manifest-etcd-server-urls=https://localhost:2379",
        "--manifest-image=" + image("hyperkube"), "--manifest-operator-image=" + image("cluster-kube-apiserver-operator"),
        "--asset-input-dir=/assets/tls", "--asset-output-dir=/assets/kube-apiserver-bootstrap",
        "--config-output-file=/assets/kube-apiserver-bootstrap/config", "--cluster-config-file=" + network,
        "--cluster-auth-file=/assets/manifests/cluster-authentication-02-config.yaml", "--infra-config-file=" + infrastructure,
        "--rendered-manifest-files=/assets/manifests", "--payload-version=0.1.0", "--operand-kubernetes-version=1.36.3"}},
      {"cluster-kube-controller-manager-operator",
       components::kube_controller_manager::run_render,
       {"--cluster-policy-controller-image=" + image("cluster-policy-controller"), "--manifest-image=" + image("hyperkube"),
        "--asset-input-dir=/assets/tls", "--asset-output-dir=/assets/kube-controller-manager-bootstrap",
        "--config-output-file=/assets/kube-controller-manager-bootstrap/config",
        "--cpc-config-output-file=/assets/kube-controller-manager-bootstrap/cpc-config", "--cluster-config-file=" + network,
        "--rendered-manifest-files=/assets/manifests", "--payload-version=0.1.0"}},
      {"cluster-kube-scheduler-operator",
       components::kube_scheduler::run_render,
       {"--manifest-image=" + image("hyperkube"), "--asset-input-dir=/assets/tls",
        "--asset-output-dir=/assets/kube-scheduler-bootstrap", "--config-output-file=/assets/kube-scheduler-bootstrap/config"}},
      {"cluster-ingress-operator",
       components::ingress::run_render,
       {"--prefix=cluster-ingress-", "--output-dir=/assets/ingress-operator-manifests"}},
      {"cluster-node-tuning-operator",
       components::node_tuning::run_render,
       {"--asset-input-dir=/assets/manifests", "--asset-output-dir=/assets/node-tuning-bootstrap"}},
      {"machine-config-operator",
       components::machine_config_operator::run_bootstrap,
       {"--root-ca=/assets/tls/root-ca.crt", "--kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt",
        "--config-file=/assets/manifests/cluster-config.yaml", "--dest-dir=/assets/mco-bootstrap",
        "--pull-secret=/assets/manifests/openshift-config-secret-pull-secret.yaml", "--release-image=" + image("release"),
        "--image-references=/assets/image-references", "--payload-version=0.1.0"}},
      {"cloud-credential-operator",
       components::cloud_credential::run_render,
       {"--dest-dir=/assets/cco-bootstrap", "--manifests-dir=/assets/manifests",
        "--cloud-credential-operator-image=" + image("cloud-credential-operator")}},
      {"baremetal-runtimecfg",
       components::runtimecfg::run_render,
       {"--api-vips=10.97.77.5", "--cluster-domain=demo.example.com", "--out-dir=/run/vrrp", "/config"}},
  };
  return all;
}

World::World(const FileTree& tree) { write_tree(world_.files, tree); }

Result<> World::run(const Component& component) {
  const components::Environment base = world_.environment();
  const components::Environment environment{base.context, base.files, runner_, base.random, base.http, base.print};
  return component.run(environment, component.arguments).context(component.name);
}

const FileTree& input() {
  static const FileTree tree = [] {
    MemoryFiles files;
    put_input(files);
    return read_tree(files, "/");
  }();
  return tree;
}

const FileTree& completed_input() {
  static const FileTree tree = [] {
    World world(input());
    const Result<> done = world.run(first_component());
    EXPECT_TRUE(done.ok()) << done.error().message();
    return world.tree();
  }();
  return tree;
}

// The files that a command wrote or changed.
FileTree written(const Component& component, const FileTree& before) {
  World world(before);
  const Result<> done = world.run(component);
  EXPECT_TRUE(done.ok()) << done.error().message();
  FileTree after = world.tree();
  std::erase_if(after, [&](const auto& file) { return before.contains(file.first) && before.at(file.first) == file.second; });
  return after;
}

}  // namespace slipway::testing_support
