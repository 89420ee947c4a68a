// The identity of a cluster: its IDs, its loopback address and the tokens of its machines.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

inline constexpr std::size_t longest_stem = 21;

// Whether the cluster's name has more than longest_stem characters, so that the infra ID contains only a part of it.
bool is_infra_id_cut(const config::InstallConfig& config);

// infra_id: at most 21 characters of the cluster's name (letters, digits, dashes), a dash, and five random characters, as in
// openshift/installer pkg/asset/installconfig/clusterid.go. errors: those of Random
Result<ClusterId> make_cluster_id(const config::InstallConfig& config, const Randomness& random);

// Whether a text has the form of an infra ID. Other names may have it, too. Pure.
bool is_infra_id(std::string_view text);

// An address of 127.0.0.0/8, computed from the infra ID. Each cluster on a host has its own address, so each can use port 6443.
std::string loopback_address(const ClusterId& id);

// Two tokens of 256 bits as hexadecimal digits. errors: those of Random
Result<ServerToken> make_server_token(const Randomness& random);

}  // namespace slipway::assets
