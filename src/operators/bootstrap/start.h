// `cluster-bootstrap start`: runs the temporary control plane on the bootstrap machine until the masters have their own.
#pragma once

#include "operators/lib/program.h"

namespace slipway::operators {

// Can be started again after any end of an earlier start. Takes the temporary control plane away in the end, also after a
// failure; not when it is told to stop, so that the next start goes on.
//
//   errors  conflict: a static pod of somebody else is in the way; invalid: the manifests, before anything is touched; those of
//           hand_over
Result<> run_bootstrap_start(const Environment& environment, const Arguments& arguments);

// `cluster-bootstrap version`: prints the version that slipway has.
Result<> run_bootstrap_version(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
