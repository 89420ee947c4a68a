// Changes the root directory of this process, for containers that work on their host.
#pragma once

#include "base/result.h"

#include <string>

namespace slipway::sys {

// Makes `folder` the root directory of this process and its children. It cannot be undone. Read files of the old root before;
// programs that are started afterwards are those of the new root.
//
//   errors  not_found, denied
Result<> enter_root(const std::string& folder);

}  // namespace slipway::sys
