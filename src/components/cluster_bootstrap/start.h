// `cluster-bootstrap start`: runs the temporary control plane on the bootstrap machine until the masters have their own.
#pragma once

#include "components/program/program.h"

namespace slipway::components::cluster_bootstrap {

// Can be started again after any end of an earlier start. Removes the temporary control plane at the end, also after a failure,
// but not on a stop, so that the next start can continue.
//
//   errors  conflict: a static pod that was not written by cluster-bootstrap already exists; invalid: the manifests, before
//           anything is changed; those of run_handover
Result<> run_start(const Environment& environment, const Arguments& arguments);

// `cluster-bootstrap version`: prints slipway's version.
Result<> run_version(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_bootstrap
