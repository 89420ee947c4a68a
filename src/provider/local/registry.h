// The registry of a cluster: serves the images of the cluster's release to the machines, on the bridge's address.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// The host of all pull specs in a release. It does not exist in DNS; machines get a mirror for it (hosts_toml).
inline constexpr std::string_view release_host = "registry.slipway.invalid";

// The registry prints this when its socket is open.
inline constexpr std::string_view registry_is_up = "listening on";

// The configuration of the registry (distribution). Pushes and deletions are disabled, because blobs are files of a release.
// Pure.
std::string registry_config(std::string_view storage, std::string_view address);
std::vector<std::string> registry_command(std::string_view program, std::string_view config);

// certs.d/HOST/hosts.toml for a machine's containerd: the mirror of release_host. Pure.
std::string hosts_toml(std::string_view address);

}  // namespace slipway::provider::local
