// `cluster-bootstrap bootstrap-in-place`: writes the Ignition config of the machine that bootstraps a cluster and becomes its
// only node.
#pragma once

#include "components/program/program.h"

namespace slipway::components::cluster_bootstrap {

// --asset-dir FOLDER --input BUTANE --output IGNITION [--pretty=false]. The output contains every key of the cluster and has mode
// 0600.
//
//   errors  those of translate_butane; as sys::Files
Result<> run_in_place(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_bootstrap
