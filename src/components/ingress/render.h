// `ingress-operator render`: the objects that have to exist before the ingress operator runs.
#pragma once

#include "components/program/program.h"

namespace slipway::components::ingress {

// Writes PREFIX00-custom-resource-definition.yaml and PREFIX00-namespace.yaml, 0640 in a folder of 0750.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::ingress
