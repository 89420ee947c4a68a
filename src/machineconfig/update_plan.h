// From one MachineConfig to another on a running machine: the differences, whether the machine can apply them or has to be
// created again, and the actions after they are applied. Pure.
//
//   TRY(check_reconcilable(current, wanted));
//   Actions actions = actions_for(differences(current, wanted));
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "ignition/types.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// A file as a config wants it, whether it stands among its files or is part of a unit.
struct WantedFile {
  std::string path;
  ignition::Resource contents{};
  unsigned mode = 0644;
  ignition::Owner user{};
  ignition::Owner group{};
  bool is_mask = false;  // a link to /dev/null instead, which masks a unit

  bool operator==(const WantedFile&) const = default;
};

// All of them, by path. Folders and links of a config are made at the first boot and then left alone.
std::vector<WantedFile> wanted_files(const MachineConfig& config);

// The keys that open the account `core`, one a line, and the hash of its password.
struct CoreAccess {
  std::string keys{};
  std::string password_hash{};  // empty: it is locked

  bool operator==(const CoreAccess&) const = default;
};
CoreAccess core_access(const MachineConfig& config);

struct Differences {
  std::vector<std::string> files{};  // paths that come, change or go
  std::vector<std::string> units{};  // names of units that do
  bool core_access = false;
  bool os_image = false;
  bool kernel = false;  // its arguments, its type, its FIPS mode
  bool extensions = false;

  bool operator==(const Differences&) const = default;
};
Differences differences(const MachineConfig& from, const MachineConfig& to);

// What a machine does after its disk is as wanted.
struct ServiceAction {
  std::string verb;  // of systemctl: "restart", "reload"
  std::string unit;

  bool operator==(const ServiceAction&) const = default;
};
struct Actions {
  bool reboot = false;
  std::vector<ServiceAction> services{};  // in this order; none when it reboots

  // Pods leave the machine first: none of them may be hurt by what follows.
  bool needs_drain() const { return reboot; }
  bool operator==(const Actions&) const = default;
};

// By the table of paths in update_plan.cpp, the longest that fits; what no row knows needs a reboot, as every unit, kernel and
// operating system does. Ways to log in need nothing.
Actions actions_for(const Differences& differences);

Json to_json(const Actions& actions);
// errors: invalid
Result<Actions> parse_actions(const Json& value, std::string_view name);

// errors: invalid, with everything that only a new machine can get: users other than core, groups, disks, file systems, RAID,
// folders, new links, FIPS mode, Ignition's kernel arguments, contents from elsewhere than the config
Result<> check_reconcilable(const MachineConfig& from, const MachineConfig& to);

// errors: invalid, with what machines of this release do not change once they run: operating system, kernel, extensions
Result<> check_changeable(const MachineConfig& from, const MachineConfig& to);

}  // namespace slipway::machineconfig
