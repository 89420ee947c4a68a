// What commands that make assets have in common: the release, the lock of the asset directory, the machines that will join.
#pragma once

#include "assets/plan.h"
#include "cli/chosen_release.h"
#include "cli/command.h"
#include "sys/lock.h"

#include <optional>
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

// How an install-config.yaml is read here: with what this host is.
config::Reading reading_of(const Environment& environment, bool strict = false);

// What a failure to read a folder's install-config ends with: ExitStatus::install_config, but not when the state file is what
// cannot be read.
ExitStatus status_of_unread(const Environment& environment, const std::string& folder);

template <class T>
Result<T> or_end_unread(const Environment& environment, const std::string& folder, Result<T> read) {
  if (read.ok()) return read;
  return or_end_with(status_of_unread(environment, folder), environment, std::move(read));
}

// The install-config of a folder, as all commands use it. errors: those of assets::read_config; the program then ends with
// ExitStatus::install_config
Result<config::InstallConfig> read_config(const Environment& environment, const std::string& folder);

// An asset directory with its install-config, read once for all that a command does with it.
//
//   strict  fields of install-config.yaml that nobody knows are errors
//   errors  those of assets::open_folder; the program then ends with ExitStatus::install_config
Result<assets::Folder> open_assets(const Environment& environment, const std::string& folder, bool strict = false);

// Holds an asset directory; a second command there is told who has it.
// errors: not_found: no such folder; conflict: in use
Result<sys::FileLock> lock_assets(const Environment& environment, const std::string& folder);

// What assets need besides the install-config: the release and, on platform local, the machines that will join.
//
//   installed      of a cluster that is there: its release is not chosen again
//   keeps_release  what was read of the release from a registry is kept in the asset directory, for the next command
//   errors         those of choose_release
Result<assets::Environment> asset_inputs(const Environment& environment, const Arguments& arguments,
                                         const config::InstallConfig& config,
                                         const std::optional<InstalledRelease>& installed = std::nullopt,
                                         bool keeps_release = true);

}  // namespace slipway::cli
