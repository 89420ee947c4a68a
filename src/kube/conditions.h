// The conditions of an object in status.conditions. Pure.
#pragma once

#include "base/json.h"

#include <string_view>

namespace slipway::kube {

// True on a ClusterOperator or an IngressController that has settings without effect; its message names the settings.
inline constexpr std::string_view settings_ignored = "SettingsIgnored";

// The condition of this type; null if there is none.
const Json* find_condition(const Json& object, std::string_view type);

// A member of the condition, such as "message" or "reason"; empty if there is none.
std::string_view condition_text(const Json& object, std::string_view type, std::string_view member);

// The status of the condition, such as "True"; empty if there is none.
std::string_view condition_status(const Json& object, std::string_view type);

}  // namespace slipway::kube
