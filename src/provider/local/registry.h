// The registry of a cluster: it serves the images of the cluster's release on the bridge's address, to machines that lack them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// The host of all pull specs in a release, which nothing can resolve; machines are told where its content is.
inline constexpr std::string_view release_host = "registry.slipway.invalid";

// What the registry prints once its socket is there.
inline constexpr std::string_view registry_is_up = "listening on";

// Pure. The configuration of distribution's registry: nothing can be pushed or deleted, since blobs are the files of a release.
std::string registry_config(std::string_view storage, std::string_view address);
std::vector<std::string> registry_command(std::string_view program, std::string_view config);

// Where containerd of a machine finds the images of a release: certs.d/HOST/hosts.toml. Pure.
std::string hosts_toml(std::string_view address);

}  // namespace slipway::provider::local
