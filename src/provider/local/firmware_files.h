// What the firmware tells a machine about itself before its first boot, as files in /etc. Pure.
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

// Name, resolver, where the images of a release are, and which units do not run here. /etc/machine-id says that this is the
// first boot; init replaces it by the machine's uuid. Addresses are not here: the interface has them before init starts.
std::vector<FirmwareFile> firmware_files(std::string_view machine, std::string_view domain, std::string_view gateway);

}  // namespace slipway::provider::local
