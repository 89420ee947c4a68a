// What commands for local machines share: the folder of clusters, the images of machines, and programs.
#pragma once

#include "cli/command.h"

#include <string>

namespace slipway::cli {

Option state_option();               // --state
Option state_of_directory_option();  // --state next to --dir
Option os_repo_option();             // --os-repo
Option images_option();              // --images
Option os_image_option();            // --os-image

// The folder with the images of machines, absolute: --images, else the folder `payload` beside `release` if that is the image
// layout of a release folder, else that of the default release (release_store.h).
//
//   release  the value of --release; may be empty
Result<std::string> images_folder(const Environment& environment, const Arguments& arguments, const std::string& release);

// The repository of the machine OS, absolute: --os-repo, else the one in the folder of images.
std::string os_repo_folder(const Arguments& arguments, const std::string& images);

// The folder of clusters, absolute: --state, else $SLIPWAY_STATE, else the default.
std::string state_folder(const Arguments& arguments);

std::string absolute(const std::string& path);

// Absolute path of slipway itself, which runs as the owner process of clusters.
Result<std::string> own_program();

// The folder of the programs that prepare a release for local machines: ../lib/slipway beside the folder of slipway.
Result<std::string> helper_folder();

}  // namespace slipway::cli
