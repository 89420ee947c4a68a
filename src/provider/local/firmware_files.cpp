#include "provider/local/firmware_files.h"

#include "provider/local/registry.h"

#include <fmt/core.h>

namespace slipway::provider::local {

std::vector<FirmwareFile> firmware_files(std::string_view machine, std::string_view domain, std::string_view gateway) {
  return {
      {"/etc/hostname", fmt::format("{}\n", machine)},
      {"/etc/machine-id", "uninitialized\n"},
      {"/etc/resolv.conf", fmt::format("nameserver {}\nsearch {}\noptions timeout:1 attempts:5\n", gateway, domain)},
      {fmt::format("/etc/containerd/certs.d/{}/hosts.toml", release_host), hosts_toml(gateway)},
  };
}

}  // namespace slipway::provider::local
