// Mounts of this thread only, for programs that write where others must not.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace slipway::sys {

// Gives the calling thread, and the programs that it starts, mounts of their own, and makes the named mount points writable in
// them. Other threads and processes see no change. Paths that are no mount points stay as they are.
//
//   errors  denied: not root; unavailable: with the path and the message of the kernel
Result<> make_writable(const std::vector<std::string>& mount_points);

}  // namespace slipway::sys
