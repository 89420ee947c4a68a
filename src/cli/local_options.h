// What commands about local machines have in common: where clusters lie and what machines are made of.
#pragma once

#include "cli/command.h"

#include <string>

namespace slipway::cli {

Option state_option();               // --state
Option state_of_directory_option();  // --state where there is --dir
Option os_repo_option();             // --os-repo
Option images_option();              // --images

// The folder of clusters, absolute: --state, else $SLIPWAY_STATE, else the default.
std::string state_folder(const Arguments& arguments);

std::string absolute(const std::string& path);

// Absolute path of slipway itself, which becomes the owner of clusters.
Result<std::string> own_program();

}  // namespace slipway::cli
