// `cluster-version-operator render`: its own manifests and its static pod for the bootstrap machine.
#pragma once

#include "operators/lib/program.h"

namespace slipway::operators {

Result<> run_version_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
