// Label selectors of Kubernetes, as pools and disruption budgets have them.
#pragma once

#include "base/json.h"

namespace slipway::components::machine_config_operator {

// Whether a LabelSelector selects an object with these labels. An empty one selects everything, null nothing; an operator that
// nobody knows selects nothing. Pure.
bool selects(const Json* selector, const JsonObject& labels);

}  // namespace slipway::components::machine_config_operator
