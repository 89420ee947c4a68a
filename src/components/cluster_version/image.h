// `cluster-version-operator image NAME`: prints the image of a component of the release. bootkube.sh runs it in the release
// image.
#pragma once

#include "base/result.h"
#include "components/program/program.h"
#include "release/release.h"
#include "sys/files.h"

#include <string>
#include <string_view>

namespace slipway::components::cluster_version {

// The release in /release-manifests of an image whose file system is at `root`. Its digest is a placeholder, because an image
// cannot contain its own digest. errors: those of release::parse_release and Files::read
Result<release::Release> release_of_image(sys::Files& files, const std::string& root);

// The pull spec of a component in /release-manifests/image-references of the image at `root`.
//
//   errors  not_found: no such component; names similar ones; those of release::parse_release
Result<std::string> image_of_component(sys::Files& files, const std::string& root, std::string_view component);

// The command. Prints the pull spec without a newline, because scripts use the output unchanged.
Result<> run_image(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_version
