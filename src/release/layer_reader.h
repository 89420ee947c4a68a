// Reads files of an image layer without unpacking it.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace slipway::release {

// The path of an entry relative to the root, without "./" or "/" at its start: "release-manifests/image-references".
using LayerName = std::string_view;

struct LayerLimits {
  std::uint64_t file = 16u << 20;    // maximum bytes of a wanted file
  std::uint64_t layer = 4ull << 30;  // maximum bytes of the whole layer, unpacked
  bool only_files = false;           // skips links, folders and devices
};

// Reads the entries of a layer: a tar archive, plain or compressed with gzip or zstd. Writes nothing to disk.
//
//   wanted  called with each entry's name; returns whether the entry is wanted
//   found   called with each wanted entry; content is empty unless it is a regular file. An error is returned
//   errors  invalid: not an archive, a corrupt archive (after the entries before the corruption), a limit is exceeded
Result<> read_layer(std::string_view blob, const std::function<bool(LayerName)>& wanted,
                    const std::function<Result<>(LayerName, std::string content)>& found, LayerLimits limits = {});

}  // namespace slipway::release
