// `cluster-bootstrap bootstrap-in-place`: writes the Ignition config of the machine that bootstrapped a cluster and becomes its
// only node.
#pragma once

#include "components/program/program.h"

namespace slipway::components::cluster_bootstrap {

// --asset-dir FOLDER --input BUTANE --output IGNITION [--pretty=false]. The output has every key of the cluster in it and is
// 0600.
//
//   errors  those of translate_butane; as sys::Files
Result<> run_in_place(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_bootstrap
