// What commands that make assets have in common: the release, the lock of the asset directory, the machines that will join.
#pragma once

#include "assets/assets.h"
#include "cli/command.h"
#include "sys/lock.h"

#include <string>
#include <vector>

namespace slipway::cli {

// --release and the options for registries.
std::vector<Option> asset_input_options();

// The release that is installed when the command line names none; empty where there is none at hand.
struct KnownRelease {
  std::string image{};
  std::string architecture{};  // "amd64", "multi", "unknown"
};
KnownRelease known_release(const Environment& environment);

// The install-config of a folder, as all commands use it. errors: those of assets::read_config; the program then ends with
// ExitStatus::install_config
Result<config::InstallConfig> read_config(const Environment& environment, const std::string& folder);

// Holds an asset directory; a second command there is told who has it.
// errors: not_found: no such folder; conflict: in use
Result<sys::FileLock> lock_assets(const Environment& environment, const std::string& folder);

// What assets need besides the install-config of the folder: the release and, on platform local, the machines that will join.
// errors: those of reading the install-config and the release
Result<assets::Environment> asset_inputs(const Environment& environment, const Arguments& arguments, const std::string& folder);

}  // namespace slipway::cli
