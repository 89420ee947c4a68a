// Whether the bootstrap machine has handed over the cluster. It then creates ConfigMap kube-system/bootstrap with
// status=complete.
#pragma once

#include "components/controller/view.h"

namespace slipway::components {

// False also if no watch covers that ConfigMap.
bool bootstrap_is_complete(const Snapshot& seen);

}  // namespace slipway::components
