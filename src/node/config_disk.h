// The disk of a machine in the state of its MachineConfig: how the machine-config-daemon writes it, and how it continues after a
// kill.
#pragma once

#include "machineconfig/types.h"
#include "machineconfig/update_plan.h"
#include "node/program.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slipway::node {

// Actions that remain in this boot of the machine after an update of the disk.
struct AfterUpdate {
  std::string config;  // MachineState::text() of the disk
  machineconfig::Actions actions;
};

// Paths are those of the machine. The state consists of files below /etc/machine-config-daemon, with mode 0600 if they contain a
// config:
//
//   currentconfig  the config of the disk
//   nextconfig     the config that the disk is being changed to; while it exists, each file may be of either config
//   orig, noorig   the original file of the image at a path of a config, or a mark that there was none
//
// and /run/machine-config-daemon/after-update.json, which a reboot deletes. An update writes nextconfig, the files, after-update
// and currentconfig, and deletes nextconfig. If the program is killed between any two of these, the same call reaches the same
// state.
//
// Errors of all functions: those of sys::Files and sys::Runner, with the path or the command; cancelled: a stop. Threads: one.
class ConfigDisk {
 public:
  // deployment: the folder of an OSTree deployment that does not run. Then /etc is the one of that deployment, and units are
  // enabled in it; everything outside of /etc is shared with the running system. Empty: the running system.
  explicit ConfigDisk(const Environment& environment, std::string deployment = {});

  Result<std::optional<machineconfig::MachineConfig>> current();
  Result<std::optional<machineconfig::MachineConfig>> next();
  Result<std::optional<AfterUpdate>> after_update();

  // The config that the machine was created with.
  Result<> set_current(const machineconfig::MachineConfig& config);
  Result<> set_next(const machineconfig::MachineConfig& config);
  Result<> forget_next();
  Result<> forget_after_update();

  // Whether a user requested that everything is written again, whatever the state of the files.
  Result<bool> is_forced();

  // Describes the files that differ from the configs in content, mode or mask. A file may match any of the configs; the first
  // config says which files exist. Nothing when all files match. Contents that are not part of a config are not compared.
  Result<std::optional<std::string>> find_drift(const std::vector<const machineconfig::MachineConfig*>& configs);

  // Changes the disk from `current`, or from an unfinished change to `interrupted`, to `wanted`. After an error the disk is
  // rolled back to `current`. If the rollback fails as well, nextconfig is kept, and the next call continues from there. In a
  // deployment that does not run, no actions remain for this boot.
  Result<> change(const machineconfig::MachineConfig& current, const std::optional<machineconfig::MachineConfig>& interrupted,
                  const machineconfig::MachineConfig& wanted, const machineconfig::Actions& actions);

  // Takes back an unfinished change from `current` to `interrupted`.
  Result<> go_back(const machineconfig::MachineConfig& current, const machineconfig::MachineConfig& interrupted);

  // Writes the CA certificates for clients of the kubelet, which change without an update.
  Result<> keep_kubelet_ca(const std::string& pem);

 private:
  using Configs = std::vector<const machineconfig::MachineConfig*>;

  // Changes the disk to `wanted` from a mixture of the configs `before`. The first of these was applied completely, so its files
  // are settled: they exist, and their originals are saved or unknown.
  Result<> put_config(const Configs& before, const machineconfig::MachineConfig& wanted);
  Result<> remove_leftovers(const Configs& before);
  Result<> put_file(const machineconfig::WantedFile& file, bool is_settled);
  Result<> restore(const std::string& path, bool is_settled);
  Result<> save_original(const std::string& path);
  Result<> forget_originals(const Configs& before, const machineconfig::MachineConfig& wanted);
  Result<> disable_stale_units(const Configs& before, const machineconfig::MachineConfig& wanted);
  Result<> enable_units(const Configs& before, const machineconfig::MachineConfig& wanted);
  Result<> change_units(const std::string& verb, const std::vector<std::string>& units);
  std::vector<std::string> in_deployment(std::vector<std::string> argv) const;
  Result<> put_core_access(const machineconfig::CoreAccess& before, const machineconfig::CoreAccess& wanted);

  Result<> put_back(const Configs& before, const machineconfig::MachineConfig& current);
  std::string place_of(const std::string& path) const;  // of a path of the machine
  Result<std::string> content_of(const ignition::Resource& resource);
  Result<std::optional<std::string>> find_fault(const machineconfig::WantedFile& file);
  Result<std::optional<machineconfig::MachineConfig>> read_config(const std::string& path);
  Result<> write_config(const std::string& path, const machineconfig::MachineConfig& config);
  Result<std::string> run(std::vector<std::string> argv, std::string input = {});

  const Environment& environment_;
  const std::string deployment_;
};

// systemctl in a container that has the root of the machine: without this variable it assumes another system's root.
inline constexpr const char* systemctl_environment = "SYSTEMD_IGNORE_CHROOT=1";

}  // namespace slipway::node
