// Reads files out of an image layer without unpacking it.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace slipway::release {

// One name of a layer, as it would be below the root: "release-manifests/image-references", whether the archive wrote it
// with "./" or "/" in front or without.
using LayerName = std::string_view;

struct LayerLimits {
  std::uint64_t file = 16u << 20;    // bytes of one file that is wanted
  std::uint64_t layer = 4ull << 30;  // bytes of the whole layer, unpacked
  bool only_files = false;           // links, folders, devices are passed over
};

// Walks a layer: a tar archive, plain or compressed by gzip or zstd. Nothing is ever written anywhere.
//
//   wanted  is asked for each entry's name whether the content is needed
//   found   is given each wanted entry; content is empty for what is no plain file. An error ends the walk and is returned
//   errors  invalid: this is no archive, it is broken (entries before the break were found), a limit is exceeded
Result<> read_layer(std::string_view blob, const std::function<bool(LayerName)>& wanted,
                    const std::function<Result<>(LayerName, std::string content)>& found, LayerLimits limits = {});

}  // namespace slipway::release
