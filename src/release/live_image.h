// The live image of the machine OS (ISO, os/disk/live): where its parts are, and the config in it. An image for a discovery
// environment is the same file with another config, so it needs no copy.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace slipway::release {

// A part of the image, in bytes.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  bool operator==(const Extent&) const = default;
};

struct LiveImage {
  std::uint64_t size = 0;
  Extent config{};  // the area for an Ignition config: an initrd, zeros without a config
  Extent kernel{};
  Extent initramfs{};
  Extent root{};                   // the squashfs with the root
  std::string kernel_arguments{};  // "slipway.live slipway.live.sha256=... ..."
  bool has_disk_image = false;     // what the live system writes to disks

  bool operator==(const LiveImage&) const = default;
};

// Reads a part of an image. The answer is shorter at its end only.
using ReadAt = std::function<Result<std::string>(std::uint64_t offset, std::size_t length)>;

// errors: invalid: no live image of slipway; those of the reader
Result<LiveImage> read_live_image(const ReadAt& read, std::uint64_t size);

// Where the config of an image is. Reads a few sectors. errors: as read_live_image
Result<Extent> find_config_area(const ReadAt& read);

// The content of an area of this length with the config. errors: too_large: the config does not fit
Result<std::string> embed_config(std::string_view config, std::uint64_t length);

// The same without an area: an initrd with the config, for a network boot.
Result<std::string> config_initrd(std::string_view config);

// The config in an area; "" if it has none. errors: invalid
Result<std::string> embedded_config(std::string_view area);

}  // namespace slipway::release
