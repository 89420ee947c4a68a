// What the settings of the network ask for, and what of it this release cannot do. Pure.
#pragma once

#include "base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::network {

// What this release runs, whatever networkType it is asked under.
inline constexpr std::string_view network_type = "Flannel";

// A pair of virtual interfaces has this, and nothing of ours sets another.
inline constexpr int pod_mtu = 1500;

struct Wanted {
  std::string cluster_network;        // "10.128.0.0/14"
  std::vector<std::string> refusals;  // sentences; nothing is changed while there are any
};

//   config    Network.config.openshift.io cluster: its status says what is in force, which cannot be changed
//   settings  Network.operator.openshift.io cluster, or null
Wanted read_wanted(const Json& config, const Json& settings);

}  // namespace slipway::components::network
