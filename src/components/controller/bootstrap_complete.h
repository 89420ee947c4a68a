// Whether the bootstrap machine has handed the cluster over. It then creates ConfigMap kube-system/bootstrap with
// status=complete.
#pragma once

#include "components/controller/view.h"

namespace slipway::components {

// False as well when nobody watches that ConfigMap.
bool bootstrap_is_complete(const Snapshot& seen);

}  // namespace slipway::components
