#include "assets/manifests/openshift_manifests.h"

#include "assets/identity/metadata.h"
#include "assets/ignition/pointer.h"
#include "assets/machines/machine_configs.h"
#include "assets/machines/machines_aws.h"
#include "assets/machines/machines_baremetal.h"
#include "assets/machines/machines_openstack.h"
#include "assets/machines/machines_vsphere.h"
#include "assets/manifest_file.h"
#include "assets/manifests/cloud_credentials.h"
#include "assets/manifests/image_mode.h"
#include "assets/platform.h"

#include <algorithm>
#include <iterator>

namespace slipway::assets {

namespace {

Json feature_gate(const config::InstallConfig& config) {
  JsonObject object = object_of("config.openshift.io/v1", "FeatureGate", "", "cluster");
  JsonObject spec;
  if (!config.feature_set.empty()) spec["featureSet"] = config.feature_set;
  const Json custom = custom_feature_set(config);
  if (custom.is_object()) spec["customNoUpgrade"] = custom;
  object["spec"] = std::move(spec);
  return object;
}

// On platform baremetal the Secret has the name that operators keep up to date ("-managed"). For workers this is only the case
// with the Machine API.
Json user_data(const config::InstallConfig& config, std::string_view role, const ignition::Config& pointer) {
  const bool is_managed = config.platform.type == "baremetal" && (role == "master" || has_machine_api(config));
  const std::string_view ending = is_managed ? "-managed" : "";
  return secret_object("openshift-machine-api", fmt::format("{}-user-data{}", role, ending), "Opaque",
                       {{"disableTemplating", "true\n"}, {"userData", ignition_text(pointer)}});
}

Result<AssetFiles> machines(const config::InstallConfig& config, const ClusterId& id) {
  if (config.platform.type == "aws") return aws_machines(config, id);
  if (config.platform.type == "baremetal") return baremetal_machines(config, id);
  if (config.platform.type == "openstack") return openstack_machines(config, id);
  if (config.platform.type == "vsphere") return vsphere_machines(config, id);
  return AssetFiles{};
}

}  // namespace

Result<OpenshiftManifests> make_openshift_manifests(const config::InstallConfig& config, const Environment& environment,
                                                    const ClusterId& id, const KubeadminPassword& password,
                                                    const ServerToken& token, const PointerConfigs& pointers,
                                                    const PointerEdits& edits) {
  OpenshiftManifests made;
  auto add = [&](std::string_view name, const Json& object) {
    made.files.push_back(manifest_file(fmt::format("openshift/{}", name), object));
  };
  auto add_all = [&](AssetFiles files) { std::ranges::move(files, std::back_inserter(made.files)); };
  add("99_feature-gate.yaml", feature_gate(config));
  if (environment.has_kubeadmin()) {
    add("99_kubeadmin-password-secret.yaml", secret_object("kube-system", "kubeadmin", "", {{"kubeadmin", password.hash}}));
  }
  add("openshift-install-manifests.yaml",
      config_map("openshift-config", "openshift-install-manifests",
                 {{"version", environment.release_version}, {"invoker", environment.invoker}}));
  if (config.platform.type == "baremetal") add("99_baremetal-provisioning-config.yaml", baremetal_provisioning(config));
  add_all(cloud_credentials(config));
  // Machines that the cluster creates later use the same pointer configs, including the user's changes.
  const ignition::Config& master = edits.master ? *edits.master : pointers.master;
  const ignition::Config& worker = edits.worker ? *edits.worker : pointers.worker;
  for (const auto& [role, pointer] : {std::pair("master", &master), std::pair("worker", &worker)}) {
    add(fmt::format("99_openshift-cluster-api_{}-user-data-secret.yaml", role), user_data(config, role, *pointer));
  }
  add_all(TRY(machines(config, id)));
  add_all(machine_configs(config));
  if (environment.with_machine_os_config) add_all(TRY(machine_os_configs(config, token)));
  return made;
}

}  // namespace slipway::assets
