// cluster-kube-scheduler-operator render: the temporary scheduler.
#pragma once

#include "operators/lib/program.h"

namespace slipway::operators::scheduler {

// The command.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators::scheduler
