#include "bootstrap/renders.h"

#include "bootstrap/in_place.h"
#include "bootstrap/os_image.h"
#include "machineconfig/os_build_limits.h"
#include "release/release.h"

namespace slipway::bootstrap {

namespace {

using Arguments = std::vector<std::string>;

const std::string infrastructure_file = "/assets/manifests/cluster-infrastructure-02-config.yml";
const std::string network_file = "/assets/manifests/cluster-network-02-config.yml";

// A container with the assets as /assets, and the frozen manifests as /assets/manifests instead of those that stages still add
// to.
Container container(const Inputs& inputs, const char* name, const std::string& image, const char* program, Arguments arguments) {
  return {.name = name,
          .image = image,
          .program = program,
          .arguments = std::move(arguments),
          .mounts = {{inputs.assets, "/assets", true}, {inputs.assets + "/" + frozen_manifests, "/assets/manifests"}}};
}

// The same for an image whose entry point is the program.
Container entry_point(const Inputs& inputs, const char* name, const std::string& image, const char* program,
                      Arguments arguments) {
  Container result = container(inputs, name, image, program, std::move(arguments));
  result.is_entry_point = true;
  return result;
}

std::string config_of(const char* component) {
  return std::string("/etc/kubernetes/bootstrap-configs/") + component + "-config.yaml";
}

Render config_render(const Inputs& inputs) {
  Arguments arguments = {"render",
                         "--skip-api-rendering",
                         "--cluster-infrastructure-input-file=" + infrastructure_file,
                         "--cloud-provider-config-output-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml",
                         "--config-output-file=/assets/config-bootstrap/config",
                         "--asset-input-dir=/assets/tls",
                         "--asset-output-dir=/assets/config-bootstrap",
                         "--rendered-manifest-files=/assets/manifests",
                         "--payload-version=" + inputs.version};
  if (inputs.has_cloud_config)
    arguments.push_back("--cloud-provider-config-input-file=/assets/manifests/cloud-provider-config.yaml");
  return {.stage = "config-bootstrap",
          .container = container(inputs, "config-render", inputs.image("cluster-config-operator"),
                                 "/usr/bin/cluster-config-operator", std::move(arguments)),
          .output = "config-bootstrap",
          .copies = {}};
}

Render cvo_render(const Inputs& inputs) {
  Container program = entry_point(inputs, "cvo-render", inputs.release_image, "cluster-version-operator",
                                  {"render", "--output-dir=/assets/cvo-bootstrap", "--release-image=" + inputs.release_image,
                                   "--feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml"});
  if (!inputs.cluster_profile.empty()) program.environment = {"CLUSTER_PROFILE=" + inputs.cluster_profile};
  return {.stage = "cvo-bootstrap",
          .container = std::move(program),
          .output = "cvo-bootstrap",
          .copies = {{"cvo-bootstrap/bootstrap", "bootstrap-manifests"},
                     {"cvo-bootstrap/manifests", "manifests"},
                     {"auth/kubeconfig-loopback", "/etc/kubernetes/kubeconfig"}}};
}

Render etcd_render(const Inputs& inputs) {
  // The static pod is the last copy: etcd starts with it and needs all other files.
  return {.stage = "etcd-bootstrap",
          .container =
              container(inputs, "etcd-render", inputs.image("cluster-etcd-operator"), "/usr/bin/cluster-etcd-operator",
                        {"render", "--asset-output-dir=/assets/etcd-bootstrap",
                         "--cluster-configmap-file=/assets/manifests/cluster-config.yaml", "--etcd-image=" + inputs.image("etcd"),
                         "--infra-config-file=" + infrastructure_file, "--network-config-file=" + network_file}),
          .output = "etcd-bootstrap",
          .copies = {{"etcd-bootstrap/tls", "tls"},
                     {"etcd-bootstrap/manifests", "manifests"},
                     {"etcd-bootstrap/etc-kubernetes/static-pod-resources", "/etc/kubernetes/static-pod-resources"},
                     {"etcd-bootstrap/etc-kubernetes", "/etc/kubernetes"}}};
}

Render kube_apiserver_render(const Inputs& inputs) {
  return {
      .stage = "kube-apiserver-bootstrap",
      .container = container(
          inputs, "kube-apiserver-render", inputs.image("cluster-kube-apiserver-operator"),
          "/usr/bin/cluster-kube-apiserver-operator",
          {"render", "--manifest-etcd-serving-ca=etcd-ca-bundle.crt", "--manifest-etcd-server-urls=https://localhost:2379",
           "--manifest-image=" + inputs.image("hyperkube"),
           "--manifest-operator-image=" + inputs.image("cluster-kube-apiserver-operator"), "--asset-input-dir=/assets/tls",
           "--asset-output-dir=/assets/kube-apiserver-bootstrap", "--config-output-file=/assets/kube-apiserver-bootstrap/config",
           "--cluster-config-file=" + network_file, "--cluster-auth-file=/assets/manifests/cluster-authentication-02-config.yaml",
           "--infra-config-file=" + infrastructure_file, "--rendered-manifest-files=/assets/manifests",
           "--payload-version=" + inputs.version, "--operand-kubernetes-version=" + inputs.kubernetes_version}),
      .output = "kube-apiserver-bootstrap",
      .copies = {{"kube-apiserver-bootstrap/config", config_of("kube-apiserver")},
                 {"kube-apiserver-bootstrap/bootstrap-manifests", "bootstrap-manifests"},
                 {"kube-apiserver-bootstrap/manifests", "manifests"}},
      // The render reads tls/etcd-ca-bundle.crt.
      .needs = {"etcd-bootstrap"},
      // Without a user's key, the render writes both files to its input folder. It fails if only one of them exists.
      .pair = {"tls/bound-service-account-signing-key.key", "tls/bound-service-account-signing-key.pub"}};
}

// Does not need kube-apiserver-bootstrap: the signing key of that stage is for the pods, not for this render.
Render kube_controller_manager_render(const Inputs& inputs) {
  return {.stage = "kube-controller-manager-bootstrap",
          .container = container(inputs, "kube-controller-render", inputs.image("cluster-kube-controller-manager-operator"),
                                 "/usr/bin/cluster-kube-controller-manager-operator",
                                 {"render", "--cluster-policy-controller-image=" + inputs.image("cluster-policy-controller"),
                                  "--manifest-image=" + inputs.image("hyperkube"), "--asset-input-dir=/assets/tls",
                                  "--asset-output-dir=/assets/kube-controller-manager-bootstrap",
                                  "--config-output-file=/assets/kube-controller-manager-bootstrap/config",
                                  "--cpc-config-output-file=/assets/kube-controller-manager-bootstrap/cpc-config",
                                  "--cluster-config-file=" + network_file, "--rendered-manifest-files=/assets/manifests",
                                  "--payload-version=" + inputs.version}),
          .output = "kube-controller-manager-bootstrap",
          .copies = {{"kube-controller-manager-bootstrap/config", config_of("kube-controller-manager")},
                     {"kube-controller-manager-bootstrap/cpc-config", config_of("cluster-policy-controller")},
                     {"kube-controller-manager-bootstrap/bootstrap-manifests", "bootstrap-manifests"},
                     {"kube-controller-manager-bootstrap/manifests", "manifests"},
                     {"kube-controller-manager-bootstrap/tls", "tls", true}}};
}

Render kube_scheduler_render(const Inputs& inputs) {
  return {.stage = "kube-scheduler-bootstrap",
          .container = container(inputs, "kube-scheduler-render", inputs.image("cluster-kube-scheduler-operator"),
                                 "/usr/bin/cluster-kube-scheduler-operator",
                                 {"render", "--manifest-image=" + inputs.image("hyperkube"), "--asset-input-dir=/assets/tls",
                                  "--asset-output-dir=/assets/kube-scheduler-bootstrap",
                                  "--config-output-file=/assets/kube-scheduler-bootstrap/config"}),
          .output = "kube-scheduler-bootstrap",
          .copies = {{"kube-scheduler-bootstrap/config", config_of("kube-scheduler")},
                     {"kube-scheduler-bootstrap/bootstrap-manifests", "bootstrap-manifests"},
                     {"kube-scheduler-bootstrap/manifests", "manifests"}}};
}

Render ingress_render(const Inputs& inputs) {
  return {.stage = "ingress-operator-bootstrap",
          .container = entry_point(inputs, "ingress-render", inputs.image("cluster-ingress-operator"), "ingress-operator",
                                   {"render", "--prefix=cluster-ingress-", "--output-dir=/assets/ingress-operator-manifests"}),
          .output = "ingress-operator-manifests",
          .copies = {{"ingress-operator-manifests", "manifests"}}};
}

Render node_tuning_render(const Inputs& inputs) {
  const bool applies = inputs.has_image(node_tuning_operator);
  return {.stage = "node-tuning-bootstrap",
          .container = entry_point(
              inputs, "node-tuning-render", applies ? inputs.image(node_tuning_operator) : "", "cluster-node-tuning-operator",
              {"render", "--asset-input-dir=/assets/manifests", "--asset-output-dir=/assets/node-tuning-bootstrap"}),
          .output = "node-tuning-bootstrap",
          .copies = {{"node-tuning-bootstrap", "manifests", true}},
          .applies = applies};
}

Container mco_container(const Inputs& inputs) {
  Arguments arguments = {"bootstrap",
                         "--root-ca=/assets/tls/root-ca.crt",
                         "--kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt",
                         "--config-file=/assets/manifests/cluster-config.yaml",
                         "--dest-dir=/assets/mco-bootstrap",
                         "--pull-secret=/assets/manifests/openshift-config-secret-pull-secret.yaml",
                         "--release-image=" + inputs.release_image,
                         "--image-references=/assets/image-references",
                         "--payload-version=" + inputs.version};
  if (inputs.has_cloud_ca) arguments.push_back("--cloud-provider-ca-file=/assets/tls/cloud-ca-cert.pem");
  if (inputs.has_cloud_config) {
    arguments.push_back("--cloud-config-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml");
  }
  // bootkube.sh.template of OpenShift also tests for openshift-lbconfig-custom-dns.yaml, and passes a file with another name.
  if (inputs.has_custom_dns) arguments.push_back("--cloud-lb-config-file=/assets/manifests/openshift-lb-config.yaml");
  return entry_point(inputs, "mco-render", inputs.image("machine-config-operator"), "machine-config-operator",
                     std::move(arguments));
}

// The machine config controller reads /etc/mcc/bootstrap. It gets the frozen manifests and the output of the two renders with
// input for it, but not manifests/, which other renders write at the same time.
Render mco_render(const Inputs& inputs) {
  Render row{.stage = "mco-bootstrap",
             .container = mco_container(inputs),
             .output = "mco-bootstrap",
             .copies = {{"mco-bootstrap/bootstrap/manifests", "/etc/mcc/bootstrap"},
                        {"openshift", "/etc/mcc/bootstrap", true},
                        {frozen_manifests, "/etc/mcc/bootstrap"},
                        {"cvo-bootstrap/manifests", "/etc/mcc/bootstrap"},
                        {"node-tuning-bootstrap", "/etc/mcc/bootstrap", true},
                        {"mco-bootstrap/manifests", "manifests"},
                        {"auth/kubeconfig-kubelet", "/etc/mcs/kubeconfig"},
                        {"tls/machine-config-server.crt", "/etc/ssl/mcs/tls.crt"},
                        {"tls/machine-config-server.key", "/etc/ssl/mcs/tls.key"},
                        {"tls/machine-config-server-token", "/etc/ssl/mcs/token", true}},
             .needs = {},
             .copy_needs = {"cvo-render", "node-tuning-render"},
             .folders = {"/etc/mcc/bootstrap", machineconfig::configs_folder}};
  if (inputs.has_cloud_config) row.needs.push_back("config-render");
  for (const std::string platform : {"baremetal", "openstack", "ovirt", "vsphere", "nutanix", "gcp", "libvirt", "local"}) {
    row.copies.push_back({"mco-bootstrap/" + platform + "/static-pod-resources", "/etc/kubernetes/static-pod-resources", true});
    row.copies.push_back({"mco-bootstrap/" + platform + "/manifests", "/etc/kubernetes/manifests", true});
  }
  // The last copy: the server starts with it.
  row.copies.push_back({"mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml",
                        "/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml"});
  return row;
}

Render cco_render(const Inputs& inputs) {
  // Without the capability there is no output; with mode Manual there is no pod.
  return {.stage = "cco-bootstrap",
          .container = entry_point(inputs, "cco-render", inputs.image("cloud-credential-operator"), "cloud-credential-operator",
                                   {"render", "--dest-dir=/assets/cco-bootstrap", "--manifests-dir=/assets/manifests",
                                    "--cloud-credential-operator-image=" + inputs.image("cloud-credential-operator")}),
          .output = "cco-bootstrap",
          .copies = {{"cco-bootstrap/manifests", "manifests", true},
                     {"cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml",
                      "bootstrap-manifests/cloud-credential-operator-pod.yaml", true}}};
}

}  // namespace

Render api_render(const Inputs& inputs) {
  Container program =
      container(inputs, "api-render", inputs.image("cluster-config-api"), "/usr/bin/render",
                {"--asset-output-dir=/assets/api-bootstrap", "--rendered-manifest-dir=/assets/manifests",
                 fmt::format("--cluster-profile={}", release::default_profile), "--payload-version=" + inputs.version});
  program.mounts = {{inputs.assets, "/assets", true}};
  return {.stage = "api-bootstrap",
          .container = std::move(program),
          .output = "api-bootstrap",
          .copies = {{"api-bootstrap/manifests", "manifests"}},
          .needs = {"openshift-manifests"}};
}

// In the order of urgency: masters wait for the machine config server, and the longest chain of the rest is etcd, then
// kube-apiserver.
std::vector<Render> renders(const Inputs& inputs) {
  return {mco_render(inputs),
          etcd_render(inputs),
          cvo_render(inputs),
          node_tuning_render(inputs),
          kube_apiserver_render(inputs),
          kube_controller_manager_render(inputs),
          kube_scheduler_render(inputs),
          config_render(inputs),
          ingress_render(inputs),
          cco_render(inputs)};
}

Container cluster_bootstrap(const Inputs& inputs) {
  // In place there is no other machine on which a pod could run.
  const std::string required = inputs.in_place ? ""
                                               : "openshift-kube-apiserver/kube-apiserver,"
                                                 "openshift-kube-scheduler/openshift-kube-scheduler,"
                                                 "openshift-kube-controller-manager/kube-controller-manager,"
                                                 "openshift-cluster-version/cluster-version-operator";
  Container program = entry_point(inputs, "cluster-bootstrap", inputs.image("cluster-bootstrap"), "/cluster-bootstrap",
                                  {"start", "--tear-down-early=false", "--asset-dir=/assets", "--required-pods=" + required});
  if (inputs.image_mode != config::ImageMode::none) {
    // Masters wait for their image. Only slipway's cluster-bootstrap has the flag, whose default is 20 minutes.
    constexpr Milliseconds usual_limit_of_pods = std::chrono::minutes(20);
    constexpr auto minutes =
        std::chrono::duration_cast<std::chrono::minutes>(usual_limit_of_pods + machineconfig::os_build_limits::run);
    program.arguments.push_back(fmt::format("--required-pods-timeout={}m", minutes.count()));
  }
  program.mounts = {{inputs.assets, "/assets", true}, {"/etc/kubernetes", "/etc/kubernetes", true}};
  return program;
}

Container bootstrap_in_place(const Inputs& inputs) {
  Container program = entry_point(inputs, "bootstrap-in-place", inputs.image("cluster-bootstrap"), "/cluster-bootstrap",
                                  {"bootstrap-in-place", "--asset-dir=/assets",
                                   std::string("--input=/assets/") + in_place_template, "--output=/assets/master.ign"});
  program.mounts = {{inputs.assets, "/assets", true},
                    {"/usr/local/bin", "/assets/bin", false, true},
                    {"/var/lib/etcd", "/assets/etcd-data", false, true},
                    {"/etc/kubernetes", "/assets/kubernetes", false, true}};
  return program;
}

}  // namespace slipway::bootstrap
