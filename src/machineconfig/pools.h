// Pools by what their machines are.
#pragma once

#include "base/json.h"

#include <fmt/core.h>

#include <string_view>

namespace slipway::machineconfig {

// Whether the machines of a pool belong to the control plane. Their configs, images and credentials must not reach other
// machines.
inline bool is_control_plane_pool(std::string_view pool) { return pool == "master" || pool == "arbiter"; }

// The labels of the built-in pool of a role, by which settings select it.
inline JsonObject built_in_labels(std::string_view role) {
  JsonObject labels = {{"machineconfiguration.openshift.io/mco-built-in", ""},
                       {fmt::format("pools.operator.machineconfiguration.openshift.io/{}", role), ""}};
  if (role == "master") labels["operator.machineconfiguration.openshift.io/required-for-upgrade"] = "";
  return labels;
}

}  // namespace slipway::machineconfig
