// Whether a device still answers, for media that a machine was booted from.
#pragma once

#include "base/result.h"

#include <string>

namespace slipway::sys {

// Reads the first block of a block device from the device itself, not from the kernel's memory.
//
//   errors   not_found, denied, unavailable: the device does not answer
//   blocks   until the device answers or the kernel gives up, which takes seconds
Result<> check_readable(const std::string& device);

}  // namespace slipway::sys
