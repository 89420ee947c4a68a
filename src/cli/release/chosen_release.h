// Chooses the release to install. Assets need little data of a release that is named by digest, so a registry is asked only when
// that is necessary and possible.
#pragma once

#include "cli/command.h"
#include "config/install_config.h"
#include "release/release.h"

#include <optional>
#include <string>

namespace slipway::cli {

// The release of an existing cluster.
struct InstalledRelease {
  std::string image;  // by digest
  std::string version;
};

struct ChosenRelease {
  release::Release about;
  std::string image;  // by digest
  // Path below the asset directory for the release data, so that the next command does not ask the registry; empty: nothing to
  // write.
  std::string remembered_at{};
};

// --release-info
Option release_info_option();

// Reads the release from --release-info, from the data in `folder` for the same digest, or from the layout or the registry;
// mirrors of the install-config come first. If the registry of a release by digest cannot be reached, a warning is logged and
// OpenShift 4.18 is assumed (for slipway's own repository: the version of this program).
//
//   folder     the asset directory
//   installed  the release of an existing cluster, which is not chosen again
//   errors     conflict: --release differs from the release of the cluster; invalid: neither a folder nor an image reference, or
//              --release-info of another release; read errors of a release that is named by tag, or that is invalid
//   time       two attempts of 10 s each for each registry that does not answer
Result<ChosenRelease> choose_release(const Environment& environment, const Arguments& arguments,
                                     const config::InstallConfig& config, const std::string& folder,
                                     const std::optional<InstalledRelease>& installed = std::nullopt);

// Writes the release data to `remembered_at`. errors: those of Files
Result<> remember_release(const Environment& environment, const ChosenRelease& chosen);

// "registry/repository@sha256:..."; for an image layout with slipway's own repository.
std::string image_name(const release::Reference& reference, const release::Digest& digest);

// The name of the release: --release, otherwise the environment variable, otherwise the folder of the default release
// (release_store.h). errors: those of default_release
Result<std::string> release_name(const Environment& environment, const Arguments& arguments);

// The image layout of the default release. errors: those of default_release
Result<std::string> default_layout(const Environment& environment);

inline constexpr const char* override_variable = "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE";

// The release in a layout is slipway's own.
inline constexpr std::string_view layout_registry = "layout.invalid";

}  // namespace slipway::cli
