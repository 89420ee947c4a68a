#include "assets/machines/machine_configs.h"

#include "assets/manifest_file.h"
#include "config/platforms.h"
#include "ignition/parse.h"

namespace slipway::assets {

namespace {

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
  if (!config.kernel_arguments.empty()) spec["kernelArguments"] = array_of(config.kernel_arguments);
  object["spec"] = std::move(spec);
  return manifest_file(fmt::format("openshift/99_openshift-machineconfig_{}.yaml", config.name), object);
}

// On platforms where machines get addresses by DHCP, dual-stack machines have to request both families.
bool asks_for_two_addresses(const config::InstallConfig& config) {
  return config::platform_row(config.platform.type).asks_for_addresses && config.networking.service_network.size() == 2;
}

}  // namespace

AssetFiles machine_configs(const config::InstallConfig& config) {
  AssetFiles files;
  std::vector<config::MachinePool> pools = config.compute;
  pools.insert(pools.begin(), config.control_plane);
  for (const config::MachinePool& pool : pools) {
    auto named = [&](std::string_view what) { return MachineConfig{fmt::format("99-{}-{}", pool.name, what), pool.name}; };
    if (!config.ssh_key.empty()) {
      MachineConfig ssh = named("ssh");
      ssh.config.passwd.users = {{.name = "core", .ssh_authorized_keys = {config.ssh_key}}};
      files.push_back(machine_config_file(ssh));
    }
    if (config.fips) {
      MachineConfig fips = named("fips");
      fips.fips = true;
      files.push_back(machine_config_file(fips));
    }
    if (!pool.hyperthreading) {
      MachineConfig threads = named("disable-hyperthreading");
      threads.kernel_arguments = {"nosmt", "smt-enabled=off"};
      files.push_back(machine_config_file(threads));
    }
    if (asks_for_two_addresses(config)) {
      MachineConfig addresses{fmt::format("99-dual-stack-{}", pool.name), pool.name};
      addresses.kernel_arguments = {"ip=dhcp,dhcp6"};
      files.push_back(machine_config_file(addresses));
    }
  }
  return files;
}

}  // namespace slipway::assets
