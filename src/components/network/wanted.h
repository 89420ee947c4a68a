// Interprets the settings of the network, and refuses those that this release does not support. Pure.
#pragma once

#include "base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::network {

// The network of this release, for every supported networkType.
inline constexpr std::string_view network_type = "Flannel";

// The kernel's default MTU of virtual interfaces, which nothing here changes.
inline constexpr int pod_mtu = 1500;

struct Wanted {
  std::string cluster_network;        // "10.128.0.0/14"
  std::vector<std::string> refusals;  // why settings are refused, a message for each; while there are any, nothing changes
};

//   config    Network.config.openshift.io cluster: its status has the settings in force, which cannot be changed
//   settings  Network.operator.openshift.io cluster, or null
Wanted read_wanted(const Json& config, const Json& settings);

}  // namespace slipway::components::network
