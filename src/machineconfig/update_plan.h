// Updates a running machine from one MachineConfig to another: the differences, whether the machine can apply them or must be
// recreated, and the actions afterwards. Pure.
//
//   TRY(check_reconcilable(current, wanted));
//   Actions actions = actions_for(differences(current, wanted), policy);
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "ignition/types.h"
#include "machineconfig/disruption_policy.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// A file of a config, from its files or from one of its units.
struct WantedFile {
  std::string path;
  ignition::Resource contents{};
  unsigned mode = 0644;
  ignition::Owner user{};
  ignition::Owner group{};
  bool is_mask = false;  // a link to /dev/null, which masks a unit

  bool operator==(const WantedFile&) const = default;
};

// All files, sorted by path. Excludes folders and links, which are created only at the first boot.
std::vector<WantedFile> wanted_files(const MachineConfig& config);

// Access to the account `core`: its SSH keys, one a line, and its password hash.
struct CoreAccess {
  std::string keys{};
  std::string password_hash{};  // empty: locked

  bool operator==(const CoreAccess&) const = default;
};
CoreAccess core_access(const MachineConfig& config);

struct Differences {
  std::vector<std::string> files{};  // paths of added, changed and removed files
  std::vector<std::string> units{};  // names of added, changed and removed units
  bool core_access = false;
  bool os_image = false;
  bool kernel = false;      // arguments, type or FIPS mode
  bool extensions = false;  // wanted_extensions, or the image that has them

  // The machine needs a new deployment.
  bool changes_os() const { return os_image || kernel || extensions; }
  bool operator==(const Differences&) const = default;
};
Differences differences(const MachineConfig& from, const MachineConfig& to);

// What the machine takes from the image of extensions, sorted: the extensions of the config, and `realtime_extension` if its
// kernelType is realtime.
inline constexpr std::string_view realtime_extension = "kernel-rt";
std::vector<std::string> wanted_extensions(const MachineConfig& config);

// Actions of a machine after its files are updated.
struct ServiceAction {
  std::string verb;    // of systemctl: "restart", "reload", "daemon-reload"
  std::string unit{};  // empty for daemon-reload

  bool operator==(const ServiceAction&) const = default;
};
struct Actions {
  bool reboot = false;
  bool drain = false;                     // pods leave the machine before its files change; false if it reboots
  std::vector<ServiceAction> services{};  // in this order; empty if it reboots

  bool needs_drain() const { return reboot || drain; }
  bool operator==(const Actions&) const = default;
};

// What the policy says for all differences together, each action once. The machine reboots if one of them requires it: files and
// units without a policy, the kernel and the operating system always do. systemd reads changed units again before other actions.
Actions actions_for(const Differences& differences, const DisruptionPolicy& policy);

Json to_json(const Actions& actions);
// errors: invalid
Result<Actions> parse_actions(const Json& value, std::string_view name);

// errors: invalid, listing all differences that require a new machine: users other than core, groups, disks, file systems, RAID,
// LUKS, folders, new links, FIPS mode, Ignition's kernel arguments, contents that are not in the config
Result<> check_reconcilable(const MachineConfig& from, const MachineConfig& to);

// errors: invalid: no release has a kernel of this type
Result<> check_kernel_type(const MachineConfig& config);

// errors: invalid, listing what this release does not apply: an osImageURL without a digest, check_kernel_type. Whether there
// are extensions of these names is known when the machine fetches them
Result<> check_changeable(const MachineConfig& from, const MachineConfig& to);

}  // namespace slipway::machineconfig
