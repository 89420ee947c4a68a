// Writes the image of a disk to a disk or a file, and reads it back.
#pragma once

#include "base/result.h"
#include "sys/context.h"

#include <cstdint>
#include <functional>
#include <string>

namespace slipway::sys {

// Whether copy_to_disk would take the target, apart from its size. errors: its conflict and invalid
Result<> check_disk_target(const std::string& target);

// Copies the file `image` to `target`, a block device or a file that does not exist yet. Holes of the image are holes of a file,
// and become zeros on a device. Then reads the target back from the disk and compares it with the image.
//
//   on_bytes  the bytes of the image that are done since the last call; both passes together take 2 x the size of the image
//   returns   the size of the image
//   errors    conflict: the file exists, or the device is in use (mounted, swap, part of a volume); invalid: the target is
//   neither, or
//             the device is smaller than the image; internal: the content read back differs; cancelled; those of the system
//   blocks    until the target is safe from a power failure. After an error the target is incomplete; an incomplete file is
//   removed
Result<std::uint64_t> copy_to_disk(const Context& context, const std::string& image, const std::string& target,
                                   const std::function<void(std::uint64_t)>& on_bytes);

}  // namespace slipway::sys
