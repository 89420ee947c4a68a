#include "assets/openshift_manifests.h"

#include "assets/manifest_file.h"
#include "assets/metadata.h"
#include "assets/pointer.h"
#include "base/digest.h"
#include "ignition/parse.h"

namespace slipway::assets {

namespace {

Json kubeadmin(const KubeadminPassword& password) {
  JsonObject object = object_of("v1", "Secret", "kube-system", "kubeadmin");
  object["data"] = {{"kubeadmin", base64_encode(password.hash)}};
  return object;
}

Json feature_gate(const config::InstallConfig& config) {
  JsonObject object = object_of("config.openshift.io/v1", "FeatureGate", "", "cluster");
  JsonObject spec;
  if (!config.feature_set.empty()) spec["featureSet"] = config.feature_set;
  const Json custom = custom_feature_set(config);
  if (custom.is_object()) spec["customNoUpgrade"] = custom;
  object["spec"] = std::move(spec);
  return object;
}

Json install_manifests(const Environment& environment) {
  JsonObject object = object_of("v1", "ConfigMap", "openshift-config", "openshift-install-manifests");
  object["data"] = {{"version", environment.release_version}, {"invoker", environment.invoker}};
  return object;
}

Json user_data(std::string_view role, const ignition::Config& pointer) {
  JsonObject object = object_of("v1", "Secret", "openshift-machine-api", fmt::format("{}-user-data", role));
  object["type"] = "Opaque";
  object["data"] = {{"disableTemplating", base64_encode("true\n")}, {"userData", base64_encode(ignition_text(pointer))}};
  return object;
}

struct MachineConfig {
  std::string name;
  std::string role;
  ignition::Config config{.ignition = {.version = ignition::Version::v3_2}};
  std::vector<std::string> kernel_arguments{};
  bool fips = false;
};

AssetFile machine_config_file(const MachineConfig& config) {
  JsonObject object = object_of("machineconfiguration.openshift.io/v1", "MachineConfig", "", config.name);
  object["metadata"].get_object()["labels"] = {{"machineconfiguration.openshift.io/role", config.role}};
  JsonObject spec = {{"baseOSExtensionsContainerImage", ""},
                     {"config", ignition::to_json(config.config)},
                     {"fips", config.fips},
                     {"kernelType", ""},
                     {"osImageURL", ""}};
  if (!config.kernel_arguments.empty()) {
    spec["kernelArguments"] = JsonArray(config.kernel_arguments.begin(), config.kernel_arguments.end());
  }
  object["spec"] = std::move(spec);
  return manifest_file(fmt::format("openshift/99_openshift-machineconfig_{}.yaml", config.name), object);
}

}  // namespace

OpenshiftManifests make_openshift_manifests(const config::InstallConfig& config, const Environment& environment,
                                            const KubeadminPassword& password, const PointerConfigs& pointers) {
  OpenshiftManifests made;
  made.files = {
      manifest_file("openshift/99_feature-gate.yaml", feature_gate(config)),
      manifest_file("openshift/99_kubeadmin-password-secret.yaml", kubeadmin(password)),
      manifest_file("openshift/openshift-install-manifests.yaml", install_manifests(environment)),
      manifest_file("openshift/99_openshift-cluster-api_master-user-data-secret.yaml", user_data("master", pointers.master)),
      manifest_file("openshift/99_openshift-cluster-api_worker-user-data-secret.yaml", user_data("worker", pointers.worker)),
  };
  std::vector<config::MachinePool> pools = config.compute;
  pools.insert(pools.begin(), config.control_plane);
  for (const config::MachinePool& pool : pools) {
    auto named = [&](std::string_view what) { return MachineConfig{fmt::format("99-{}-{}", pool.name, what), pool.name}; };
    if (!config.ssh_key.empty()) {
      MachineConfig ssh = named("ssh");
      ssh.config.passwd.users = {{.name = "core", .ssh_authorized_keys = {config.ssh_key}}};
      made.files.push_back(machine_config_file(ssh));
    }
    if (config.fips) {
      MachineConfig fips = named("fips");
      fips.fips = true;
      made.files.push_back(machine_config_file(fips));
    }
    if (!pool.hyperthreading) {
      MachineConfig threads = named("disable-hyperthreading");
      threads.kernel_arguments = {"nosmt", "smt-enabled=off"};
      made.files.push_back(machine_config_file(threads));
    }
  }
  return made;
}

}  // namespace slipway::assets
