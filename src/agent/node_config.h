// The Ignition config of a node that has bootstrapped its cluster in place. Pure.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::agent {

// What the bootstrap of a single node leaves in its live system: the config of a master, with the state of the cluster.
inline constexpr std::string_view bootstrapped_node_config = "/opt/openshift/master.ign";

// The same with the host's own config on top: its name, and what the user added to it.
//
//   served  the host's config of the service. Its reference to the config of a master is left out: the only server of that config
//           is the cluster on this host
//   errors  invalid: one of them is no config, or they do not fit together
Result<std::string> node_config(std::string_view bootstrapped, std::string_view served);

}  // namespace slipway::agent
