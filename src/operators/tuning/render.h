// `cluster-node-tuning-operator render`: this release tunes no nodes, so there is nothing to render.
#pragma once

#include "operators/lib/program.h"

namespace slipway::operators {

// Reads its flags and writes nothing. errors: invalid: wrong flags
Result<> run_tuning_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
