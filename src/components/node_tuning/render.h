// `cluster-node-tuning-operator render`: this release tunes no nodes, so there is nothing to render.
#pragma once

#include "components/program/program.h"

namespace slipway::components::node_tuning {

// Reads its flags and writes nothing. errors: invalid: wrong flags
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::node_tuning
