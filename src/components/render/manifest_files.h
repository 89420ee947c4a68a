// Folders of manifests whose texts are passed on as they are; render_inputs.h reads them as objects.
#pragma once

#include "base/result.h"
#include "sys/files.h"

#include <string>
#include <vector>

namespace slipway::components {

// The files below a folder, at any depth, their paths below it, sorted.
//
//   errors  not_found: there is no such folder; as sys::Files
Result<std::vector<std::string>> files_below(sys::Files& files, const std::string& folder);

}  // namespace slipway::components
