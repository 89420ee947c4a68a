// `cluster-version-operator render`: writes its own manifests and its static pod for the bootstrap machine.
#pragma once

#include "components/program/program.h"

namespace slipway::components::cluster_version {

Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_version
