// cpio archives of files, as the kernel unpacks them for the initramfs (form "newc"). Pure.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::release {

// What comes before the content of a file of root, at a multiple of four bytes. errors: too_large: 4 GiB or more
Result<std::string> cpio_header(std::string_view name, unsigned permissions, std::uint64_t size);

// Zeros after a content of this size.
std::string cpio_padding(std::uint64_t size);

// Ends an archive. Its length is no multiple of four: pad what follows.
std::string cpio_trailer();

// The content of the first file with this name; nullopt without one. Ends at the trailer, or at what is no archive.
// errors: invalid: the archive is cut off
Result<std::optional<std::string>> find_in_cpio(std::string_view archive, std::string_view name);

}  // namespace slipway::release
