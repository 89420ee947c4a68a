// `cluster-bootstrap start`: runs the temporary control plane on the bootstrap machine until the masters have their own.
#pragma once

#include "components/program/program.h"

namespace slipway::components::cluster_bootstrap {

// Can be started again after any end of an earlier start. Takes the temporary control plane away in the end, also after a
// failure; not when it is told to stop, so that the next start goes on.
//
//   errors  conflict: a static pod of somebody else is in the way; invalid: the manifests, before anything is touched; those of
//           hand_over
Result<> run_start(const Environment& environment, const Arguments& arguments);

// `cluster-bootstrap version`: prints the version that slipway has.
Result<> run_version(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_bootstrap
