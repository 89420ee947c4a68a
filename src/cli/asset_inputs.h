// What commands that generate assets share: the release, the lock of the asset directory, the planned machines.
#pragma once

#include "assets/plan.h"
#include "cli/command.h"
#include "cli/release/chosen_release.h"
#include "sys/lock.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cli {

// --release and the options for registries.
std::vector<Option> asset_input_options();

// The default release, for an empty command line; empty when it is not available.
struct KnownRelease {
  std::string image{};
  std::string architecture{};  // "amd64", "multi", "unknown"
};
KnownRelease known_release(const Environment& environment);

// The options for reading an install-config on this host.
config::LoadOptions load_options(const Environment& environment, bool strict = false);

// The exit status after an install-config cannot be read: ExitStatus::install_config, but ExitStatus::failure when the state file
// is the cause.
ExitStatus read_failure_status(const Environment& environment, const std::string& folder);

template <class T>
Result<T> or_exit_unread(const Environment& environment, const std::string& folder, Result<T> read) {
  if (read.ok()) return read;
  return or_exit_with(read_failure_status(environment, folder), environment, std::move(read));
}

// Reads the install-config of a folder. errors: those of assets::read_config; the program then exits with
// ExitStatus::install_config
Result<config::InstallConfig> read_config(const Environment& environment, const std::string& folder);

// An asset directory with its install-config, read once for each command.
//
//   strict  unknown fields of install-config.yaml are errors
//   errors  those of assets::open_folder; the program then exits with ExitStatus::install_config
Result<assets::Folder> open_assets(const Environment& environment, const std::string& folder, bool strict = false);

// Locks an asset directory. The error names the process that has the lock. errors: not_found: the folder does not exist;
// conflict: another command uses it
Result<sys::FileLock> lock_assets(const Environment& environment, const std::string& folder);

// The inputs of assets besides the install-config: the release and, on platform local, the machines that will join.
//
//   installed      the release of an existing cluster, which is not chosen again
//   keeps_release  writes release data from a registry to the asset directory, for the next command
//   creates_machines  slipway creates the machines; otherwise users may, with names of their own where the platform allows it
//   errors         those of choose_release
Result<assets::Environment> asset_inputs(const Environment& environment, const Arguments& arguments,
                                         const config::InstallConfig& config,
                                         const std::optional<InstalledRelease>& installed = std::nullopt,
                                         bool keeps_release = true, bool creates_machines = false);

}  // namespace slipway::cli
