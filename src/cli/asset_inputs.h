// What commands that make assets have in common: the release, the lock of the asset directory, the machines that will join.
#pragma once

#include "assets/plan.h"
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
// errors: those of reading the release
Result<assets::Environment> asset_inputs(const Environment& environment, const Arguments& arguments,
                                         const config::InstallConfig& config);

}  // namespace slipway::cli
