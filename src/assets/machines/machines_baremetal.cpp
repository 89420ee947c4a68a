#include "assets/machines/machines_baremetal.h"

#include "assets/machines/machine_objects.h"
#include "assets/manifest_file.h"
#include "assets/platform.h"
#include "base/sorted_keys.h"
#include "base/yaml.h"

namespace slipway::assets {

namespace {

using config::InstallConfig;

constexpr std::string_view deploy_method = "install_coreos";

std::string user_data_of(std::string_view role) { return fmt::format("{}-user-data-managed", role); }

Json provider(std::string_view role) {
  return {{"apiVersion", "baremetal.cluster.k8s.io/v1alpha1"},
          {"customDeploy", {{"method", deploy_method}}},
          {"hostSelector", JsonObject()},
          {"image", {{"checksum", ""}, {"url", ""}}},
          {"kind", "BareMetalMachineProviderSpec"},
          {"metadata", JsonObject()},
          {"userData", {{"name", user_data_of(role)}}}};
}

// The status of a new BareMetalHost. openshift-install writes all of these fields.
Json empty_status() {
  return {{"errorCount", 0},
          {"errorMessage", ""},
          {"goodCredentials", JsonObject()},
          {"hardwareProfile", ""},
          {"operationHistory",
           {{"deprovision", JsonObject()}, {"inspect", JsonObject()}, {"provision", JsonObject()}, {"register", JsonObject()}}},
          {"operationalStatus", ""},
          {"poweredOn", false},
          {"provisioning", {{"ID", ""}, {"image", {{"url", ""}}}, {"state", ""}}},
          {"triedCredentials", JsonObject()}};
}

std::string hardware_profile(const Json& host) {
  const std::string given = text_of(host, {"hardwareProfile"});
  return given.empty() || given == "default" ? "unknown" : given;
}

bool has_login(const Json& host) {
  return !text_of(host, {"bmc", "username"}).empty() && !text_of(host, {"bmc", "password"}).empty();
}

Json bmc_details(const Json& host, const std::string& credentials) {
  if (!has_login(host)) return {{"address", ""}, {"credentialsName", ""}};
  JsonObject details = {{"address", text_of(host, {"bmc", "address"})}, {"credentialsName", credentials}};
  const Json* disabled = find(host, {"bmc", "disableCertificateVerification"});
  if (disabled && *disabled == Json(true)) details["disableCertificateVerification"] = true;
  return details;
}

struct Hosts {
  JsonArray hosts;
  JsonArray logins;
  JsonArray networks;
};

// The first hosts whose role is not worker become masters. All other hosts are paused until the masters run; like in OpenShift's
// installer, no host is paused if the provisioning network is unmanaged.
Hosts make_hosts(const InstallConfig& config, const ClusterId& id) {
  Hosts made;
  const bool pauses_others = text_of(config.platform.section, {"provisioningNetwork"}) != "Unmanaged";
  int masters = 0;
  for (const Json& host : find_array(config.platform.section, {"hosts"})) {
    const std::string name = text_of(host, {"name"});
    const std::string credentials = name + "-bmc-secret", network = name + "-network-config-secret";
    JsonObject object = object_of("metal3.io/v1alpha1", "BareMetalHost", machine_namespace, name);
    JsonObject& metadata = object["metadata"].get_object();
    JsonObject spec = {{"bmc", bmc_details(host, credentials)},
                       {"bootMACAddress", text_of(host, {"bootMACAddress"})},
                       {"hardwareProfile", hardware_profile(host)},
                       {"online", true}};
    if (const std::string mode = text_of(host, {"bootMode"}); !mode.empty()) spec["bootMode"] = mode;
    if (const JsonObject& hints = find_object(host, {"rootDeviceHints"}); !hints.empty()) spec["rootDeviceHints"] = hints;
    if (has_login(host)) {
      made.logins.push_back(
          secret_object(machine_namespace, credentials, "",
                        {{"password", text_of(host, {"bmc", "password"})}, {"username", text_of(host, {"bmc", "username"})}}));
    }
    if (const Json* nmstate = find(host, {"networkConfig"}); nmstate && !nmstate->is_null()) {
      const std::string text = nmstate->is_string() ? text_of(*nmstate, {}) : emit_yaml(sorted_keys(*nmstate));
      made.networks.push_back(secret_object(machine_namespace, network, "", {{"nmstate", text}}));
      spec["preprovisioningNetworkDataName"] = network;
    }
    if (text_of(host, {"role"}) != "worker" && masters < config.control_plane.replicas) {
      metadata["labels"] = {{"installer.openshift.io/role", "control-plane"}};
      spec["consumerRef"] = {{"apiVersion", machine_api},
                             {"kind", "Machine"},
                             {"name", machine_name(id, "master", static_cast<std::size_t>(masters))},
                             {"namespace", machine_namespace}};
      spec["customDeploy"] = {{"method", deploy_method}};
      spec["userData"] = {{"name", user_data_of("master")}};
      ++masters;
    } else if (pauses_others) {
      metadata["annotations"] = {{"baremetalhost.metal3.io/paused", ""}};
    }
    object["spec"] = std::move(spec);
    object["status"] = empty_status();
    made.hosts.push_back(std::move(object));
  }
  return made;
}

}  // namespace

AssetFiles baremetal_machines(const InstallConfig& config, const ClusterId& id) {
  AssetFiles files;
  if (!has_machine_api(config)) return files;
  const Hosts hosts = make_hosts(config, id);
  put_numbered(files, "hosts", hosts.hosts);
  put_numbered(files, "host-bmc-secrets", hosts.logins);
  put_numbered(files, "host-network-config-secrets", hosts.networks);
  JsonArray masters, sets;
  for (int i = 0; i < config.control_plane.replicas; ++i) {
    masters.push_back(machine(id, "master", machine_name(id, "master", static_cast<std::size_t>(i)), provider("master")));
  }
  for (const config::MachinePool& pool : config.compute) {
    sets.push_back(
        machine_set(id, "worker", machine_name(id, pool.name, 0), role_labels(id, "worker"), pool.replicas, provider("worker")));
  }
  put_numbered(files, "master-machines", masters);
  put_numbered(files, "worker-machineset", sets);
  return files;
}

Json baremetal_provisioning(const InstallConfig& config) {
  auto text = [&](std::string_view key) { return text_of(config.platform.section, {key}); };
  JsonObject object = object_of("metal3.io/v1alpha1", "Provisioning", "", "provisioning-configuration");
  object["spec"] = {{"provisioningDHCPRange", text("provisioningDHCPRange")},
                    {"provisioningIP", text("clusterProvisioningIP")},
                    {"provisioningInterface", text("provisioningNetworkInterface")},
                    {"provisioningNetwork", text("provisioningNetwork")},
                    {"provisioningNetworkCIDR", text("provisioningNetworkCIDR")},
                    {"provisioningOSDownloadURL", ""},
                    {"watchAllNamespaces", false}};
  return object;
}

}  // namespace slipway::assets
