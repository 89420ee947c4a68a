// Folders of manifests that are copied as text; inputs.h reads manifests as objects.
#pragma once

#include "base/result.h"
#include "sys/files.h"

#include <string>
#include <vector>

namespace slipway::components {

// Paths of all files below a folder, relative to it, sorted.
//
//   errors  not_found: the folder does not exist; as sys::Files
Result<std::vector<std::string>> files_below(sys::Files& files, const std::string& folder);

}  // namespace slipway::components
