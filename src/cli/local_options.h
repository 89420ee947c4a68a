// What commands for local machines share: the folder of clusters, and the images of machines.
#pragma once

#include "cli/command.h"

#include <string>

namespace slipway::cli {

Option state_option();               // --state
Option state_of_directory_option();  // --state next to --dir
Option os_repo_option();             // --os-repo
Option images_option();              // --images

// The folder of clusters, absolute: --state, else $SLIPWAY_STATE, else the default.
std::string state_folder(const Arguments& arguments);

std::string absolute(const std::string& path);

// Absolute path of slipway itself, which runs as the owner process of clusters.
Result<std::string> own_program();

}  // namespace slipway::cli
