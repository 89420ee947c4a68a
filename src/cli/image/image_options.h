// What commands share that make a disk image of the machine OS.
#pragma once

#include "cli/command.h"
#include "release/disk_image.h"

#include <string_view>
#include <vector>

namespace slipway::cli {

// --platform, --ignition, --append-karg, --first-boot-karg, --os-repo
std::vector<Option> image_options(std::string_view default_platform);

// The config in a file as the machine OS reads it: checked, and translated to version 3.3. errors: those of files; invalid
Result<std::string> ignition_of_file(const Environment& environment, const std::string& file);

// A request for an image in the platform's format. The Ignition config is checked, and translated to the version that the machine
// OS reads. Its output is empty.
//
//   errors  invalid: the config, kernel arguments; not_found: files, the release; those of ostree
Result<release::DiskImageRequest> image_request(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::cli
