// `render` of the component cluster-config-api: the first render stage. It completes the FeatureGate, which everybody reads after
// it, and hands out the CRDs that the temporary control plane needs from its first second on (operators 2.2, 12.2).
#pragma once

#include "operators/lib/program.h"

namespace slipway::operators {

Result<> run_config_api_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
