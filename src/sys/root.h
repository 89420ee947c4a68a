// The root of this process: for programs in containers that work on the machine around them.
#pragma once

#include "base/result.h"

#include <string>

namespace slipway::sys {

// From now on paths of this process, and of all that it starts, begin at this folder. There is no way back. What has to be read
// of the old root has to be read before; programs that are started are those of the new one.
//
//   errors  not_found, denied
Result<> enter_root(const std::string& folder);

}  // namespace slipway::sys
