// The registry of a cluster: serves the images of the cluster's release to the machines, on the bridge's address. It also has the
// images that people and machines push to it, and fetches those of other registries over the host's network (payload/registry).
#pragma once

#include "provider/local/cluster_config.h"
#include "provider/local/layout.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// The host of all pull specs in a release. It does not exist in DNS; machines get a mirror for it (hosts_toml).
inline constexpr std::string_view release_host = "registry.slipway.invalid";

// The registry prints this when its socket is open.
inline constexpr std::string_view registry_is_up = "listening on";

// The port for machines that pull, at the bridge's address, and the one for people, at the loopback address of the owner. A port of
// the host leads to the last one. Machines push to assets::local_os_registry_port at the bridge's address. This address is the
// owner's own, so no other program uses its ports.
inline constexpr int registry_port = 5000;
inline constexpr int push_port = 5001;
inline constexpr std::string_view push_address = "127.0.0.1";

// The configuration of the registry (distribution) of clusters without images of their own. Pushes and deletions are disabled,
// because blobs are files of a release. Pure.
std::string registry_config(std::string_view storage, std::string_view address);
std::vector<std::string> registry_command(std::string_view program, std::string_view config);

// The settings of the registry of clusters with images of their own, and its command. Pure.
//
//   takes_pushes  the files of registry_access.h exist
std::string registry_settings(const ClusterConfig& config, const ClusterPaths& paths, bool takes_pushes);
std::vector<std::string> own_registry_command(const ClusterConfig& config, const ClusterPaths& paths, bool takes_pushes);

// certs.d/HOST/hosts.toml for a machine's containerd: the mirror of release_host, and of all others. Pure.
std::string hosts_toml(std::string_view address);

// The same for the registry that machines push to: they read from the mirror, and push to `os_registry` with the authority ca.crt
// in the same folder. Pure.
std::string os_hosts_toml(std::string_view address, std::string_view os_registry);

}  // namespace slipway::provider::local
