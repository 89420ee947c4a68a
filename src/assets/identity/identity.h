// What tells one cluster from all others: its ids, and the token of its machines.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

inline constexpr std::size_t longest_stem = 21;

// Whether that many characters are too few for the name.
bool is_infra_id_cut(const config::InstallConfig& config);

// infra_id: at most 21 characters of the cluster's name (letters, digits, dashes), a dash, and five random characters, as in
// openshift/installer pkg/asset/installconfig/clusterid.go. errors: those of Random
Result<ClusterId> make_cluster_id(const config::InstallConfig& config, const Randomness& random);

// An address of 127.0.0.0/8 that is the cluster's own, so that every cluster on a host has port 6443. The same for the same
// cluster.
std::string loopback_address(const ClusterId& id);

// 256 bits as hexadecimal digits. errors: those of Random
Result<ServerToken> make_server_token(const Randomness& random);

}  // namespace slipway::assets
