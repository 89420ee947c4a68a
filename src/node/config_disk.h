// The disk of a machine as its MachineConfig wants it: what the machine-config-daemon writes, and how it continues after it was
// killed.
#pragma once

#include "machineconfig/types.h"
#include "machineconfig/update_plan.h"
#include "node/program.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slipway::node {

// What is left to do in this boot of the machine after an update of its disk.
struct AfterUpdate {
  std::string config;
  machineconfig::Actions actions;
};

// Paths are the machine's. All state is files below /etc/machine-config-daemon, 0600 where a config is in them:
//
//   currentconfig  the config that the disk has
//   nextconfig     the config that the disk was being changed to; while it is there, each file may be of either
//   orig, noorig   what the image had at a path that a config took, or that it had nothing
//
// and /run/machine-config-daemon/after-update.json, which a reboot removes. An update is: nextconfig, the files, after-update,
// currentconfig, nextconfig away. Whatever is killed in between, the same again reaches the same end.
//
// Errors of all: as sys::Files and sys::Runner, with the path or the command; cancelled: a stop. Threads: one.
class ConfigDisk {
 public:
  explicit ConfigDisk(const Environment& environment);

  Result<std::optional<machineconfig::MachineConfig>> current();
  Result<std::optional<machineconfig::MachineConfig>> next();
  Result<std::optional<AfterUpdate>> after_update();

  // The config that the machine was made with.
  Result<> set_current(const machineconfig::MachineConfig& config);
  Result<> forget_next();
  Result<> forget_after_update();

  // People want everything written again, whatever is there now.
  Result<bool> is_forced();

  // What files are not as the configs want them, as a sentence: content, mode, masks. A file may be as any of them wants it, but
  // the first says which ones there are. Nothing when all is well. Contents that no config has in it are not looked at.
  Result<std::optional<std::string>> find_drift(const std::vector<const machineconfig::MachineConfig*>& configs);

  // Brings the disk from `current`, or from half-way to `half`, to `wanted`. What fails leaves it at `current`; when going back
  // fails, too, nextconfig stays and the next call begins there.
  Result<> change(const machineconfig::MachineConfig& current, const std::optional<machineconfig::MachineConfig>& half,
                  const machineconfig::MachineConfig& wanted, const machineconfig::Actions& actions);

  // The authorities of clients of the kubelet, which change without an update.
  Result<> keep_kubelet_ca(const std::string& pem);

 private:
  using Configs = std::vector<const machineconfig::MachineConfig*>;

  // The disk as `wanted` has it, wherever between `before` it is; the first of those is the one that it had as a whole, and its
  // files are settled: they are there, and what was there before them is saved or was never known.
  Result<> put_config(const Configs& before, const machineconfig::MachineConfig& wanted);
  Result<> remove_leftovers(const Configs& before);
  Result<> put_file(const machineconfig::WantedFile& file, bool is_settled);
  Result<> restore(const std::string& path, bool is_settled);
  Result<> save_original(const std::string& path);
  Result<> forget_originals(const Configs& before, const machineconfig::MachineConfig& wanted);
  Result<> disable_stale_units(const Configs& before, const machineconfig::MachineConfig& wanted);
  Result<> enable_units(const Configs& before, const machineconfig::MachineConfig& wanted);
  Result<> put_core_access(const machineconfig::CoreAccess& before, const machineconfig::CoreAccess& wanted);

  Result<std::string> content_of(const ignition::Resource& resource);
  Result<std::optional<std::string>> find_fault(const machineconfig::WantedFile& file);
  Result<std::optional<machineconfig::MachineConfig>> read_config(const std::string& path);
  Result<> write_config(const std::string& path, const machineconfig::MachineConfig& config);
  Result<std::string> run(std::vector<std::string> argv, std::string input = {});

  const Environment& environment_;
};

// systemctl of the machine, from a container that has its root: without this it would take the root for another system's.
inline constexpr const char* systemctl_environment = "SYSTEMD_IGNORE_CHROOT=1";

}  // namespace slipway::node
