// The release that a cluster is installed from, as commands that make assets know it. A registry is asked when it has to be and
// can be: assets need little of a release that is named by digest.
#pragma once

#include "cli/command.h"
#include "config/install_config.h"
#include "release/release.h"

#include <optional>
#include <string>

namespace slipway::cli {

// The release that a cluster was made with.
struct InstalledRelease {
  std::string image;  // by digest
  std::string version;
};

struct ChosenRelease {
  release::Release about;
  std::string image;  // by digest
  // Below the asset directory to write it to, so that the next command need not ask; empty: nothing to write.
  std::string remembered_at{};
};

// --release-info
Option release_info_option();

// Of --release-info, else of what `folder` remembers of that digest, else of the layout or the registry; the mirrors of the
// install-config are asked first. Of a release by digest whose registry cannot be asked, it is a warning, and the release is
// taken for one of OpenShift 4.18 (of slipway's own repository: for this program's version).
//
//   folder     the asset directory
//   installed  of a cluster that is there: its release is not chosen again
//   errors     conflict: --release names another than the cluster's; invalid: no such folder and no image reference,
//   --release-info that is not of this release; those of reading a release
//           that was named by tag, or that is there and broken
//   time    two tries of 10 s each for each place that does not answer
Result<ChosenRelease> choose_release(const Environment& environment, const Arguments& arguments,
                                     const config::InstallConfig& config, const std::string& folder,
                                     const std::optional<InstalledRelease>& installed = std::nullopt);

// Writes what choose_release wants remembered. errors: those of Files
Result<> remember_release(const Environment& environment, const ChosenRelease& chosen);

// "registry/repository@sha256:...", of an image layout under slipway's own name.
std::string image_name(const release::Reference& reference, const release::Digest& digest);

// The name of the release: --release, the environment, the default.
std::string release_name(const Environment& environment, const Arguments& arguments);

inline const std::string default_release = "build/release";
inline constexpr const char* override_variable = "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE";

// A layout's release is slipway's own.
inline constexpr std::string_view layout_registry = "layout.invalid";

}  // namespace slipway::cli
