// Files in /etc that configure a machine before its first boot. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

struct FirmwareFile {
  std::string path;  // on the machine
  std::string content;

  bool operator==(const FirmwareFile&) const = default;
};

// Host name, resolver, registry of the release's images, and masked units. /etc/machine-id marks the first boot; init replaces it
// by the machine's uuid. There are no addresses: the interface has its address before init starts.
std::vector<FirmwareFile> firmware_files(std::string_view machine, std::string_view domain, std::string_view gateway,
                                         bool has_own_images);

}  // namespace slipway::provider::local
