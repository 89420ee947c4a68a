// Whether the bootstrap machine has handed the cluster over: it says so itself, in ConfigMap kube-system/bootstrap
// (installer 7.12).
#pragma once

#include "operators/lib/view.h"

namespace slipway::operators {

// False as well when nobody watches that ConfigMap.
bool bootstrap_is_complete(const Snapshot& seen);

}  // namespace slipway::operators
