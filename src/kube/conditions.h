// What an object says of itself in status.conditions. Pure.
#pragma once

#include "base/json.h"

#include <string_view>

namespace slipway::kube {

// True on a ClusterOperator or an IngressController while settings of it are set that have no effect; its message names them.
inline constexpr std::string_view settings_ignored = "SettingsIgnored";

// The condition of a type; null when there is none.
const Json* find_condition(const Json& object, std::string_view type);

// A member of it, as "message" or "reason"; empty when there is none.
std::string_view condition_text(const Json& object, std::string_view type, std::string_view member);

// Its status, "True"; empty when there is none.
std::string_view condition_status(const Json& object, std::string_view type);

}  // namespace slipway::kube
