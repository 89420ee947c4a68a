// Label selectors of Kubernetes, used by pools and disruption budgets.
#pragma once

#include "base/json.h"

namespace slipway::machineconfig {

// Whether a LabelSelector selects an object with these labels. An empty selector selects everything, null selects nothing, and an
// unknown operator selects nothing. Pure.
bool selects(const Json* selector, const JsonObject& labels);

}  // namespace slipway::machineconfig
