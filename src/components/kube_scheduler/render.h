// cluster-kube-scheduler-operator render: the temporary scheduler.
#pragma once

#include "components/program/program.h"

namespace slipway::components::kube_scheduler {

// The command.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_scheduler
