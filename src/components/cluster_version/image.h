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

// The release whose image has `root` as its file system, read from its /release-manifests. The digest in it says nothing: inside
// an image its own cannot be known. errors: those of release::parse_release and Files::read
Result<release::Release> release_of_image(sys::Files& files, const std::string& root);

// The pull spec of a component, as /release-manifests/image-references under `root` has it.
//
//   errors  not_found: no such component, naming similar ones; those of release::parse_release
Result<std::string> image_of_component(sys::Files& files, const std::string& root, std::string_view component);

// The command. Prints without a newline: scripts paste it as it is.
Result<> run_image(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_version
