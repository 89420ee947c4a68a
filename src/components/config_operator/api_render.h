// `render` of the component cluster-config-api, the first render stage. It writes the status of the FeatureGate, which all other
// renders read, and copies the CRDs that the temporary control plane needs at its start.
#pragma once

#include "components/program/program.h"

namespace slipway::components::config_operator {

Result<> run_api_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::config_operator
