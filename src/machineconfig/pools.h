// Pools by what their machines are.
#pragma once

#include <string_view>

namespace slipway::machineconfig {

// Whether the machines of a pool belong to the control plane. Their configs, images and credentials must not reach other
// machines.
inline bool is_control_plane_pool(std::string_view pool) { return pool == "master" || pool == "arbiter"; }

}  // namespace slipway::machineconfig
