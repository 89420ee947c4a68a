// Node roles, which are labels. Pure.
#pragma once

#include "base/json.h"

#include <string>
#include <string_view>

namespace slipway::kube {

inline constexpr std::string_view master_label = "node-role.kubernetes.io/master";
inline constexpr std::string_view control_plane_label = "node-role.kubernetes.io/control-plane";
inline constexpr std::string_view worker_label = "node-role.kubernetes.io/worker";

// The label of a role: "node-role.kubernetes.io/infra" for "infra".
inline std::string role_label(std::string_view role) { return "node-role.kubernetes.io/" + std::string(role); }

inline bool has_role(const Json& node, std::string_view label) {
  return slipway::find(node, {"metadata", "labels", label}) != nullptr;
}

}  // namespace slipway::kube
