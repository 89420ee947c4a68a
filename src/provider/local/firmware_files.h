// Files in /etc that configure a machine before its first boot. Pure.
#pragma once

#include "provider/local/cluster_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

struct FirmwareFile {
  std::string path;  // on the machine
  std::string content;

  bool operator==(const FirmwareFile&) const = default;
};

// Host name, resolver, registries, and masked units. /etc/machine-id marks the first boot; init replaces it by the machine's
// uuid. There are no addresses: the interface has its address before init starts.
//
//   push_authority  PEM; signed the certificate of the config's os_registry. Empty: machines push nothing
std::vector<FirmwareFile> firmware_files(std::string_view machine, const ClusterConfig& config,
                                         const std::string& push_authority);

}  // namespace slipway::provider::local
