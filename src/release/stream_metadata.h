// The list of disk images in the form of CoreOS's stream metadata, which deployers read
// (https://coreos.github.io/fedora-coreos/stream-metadata/).
#pragma once

#include "base/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::release {

// A file that `slipway image create` made: slipway-VERSION-PLATFORM.x86_64.FORMAT
struct DiskImageFile {
  std::string version;
  std::string platform;
  std::string format;

  bool operator==(const DiskImageFile&) const = default;
};

std::string file_name(const DiskImageFile& image);

// nullopt if the name is no name of an image.
std::optional<DiskImageFile> parse_file_name(std::string_view name);

struct ListedImage {
  DiskImageFile image;
  std::string location;  // a path or a URL
  std::string sha256;    // of the file, hexadecimal
  std::uint64_t size = 0;
};

// If a platform has images of several versions, the last one of the list is used.
Json stream_metadata(const std::vector<ListedImage>& images);

}  // namespace slipway::release
