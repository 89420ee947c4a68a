// `render` of the component cluster-config-api, the first render stage. It writes the status of the FeatureGate, which all other
// renders read, and copies the CRDs that the temporary control plane needs at its start.
#pragma once

#include "operators/lib/program.h"

namespace slipway::operators {

Result<> run_config_api_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
