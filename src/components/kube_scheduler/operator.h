// cluster-kube-scheduler-operator operator: the schedulers of the masters.
#pragma once

#include "components/static_pod/static_pod_operator.h"

namespace slipway::components::kube_scheduler {

StaticPodOperator make_operator(const OperatorVariables& variables);

// The command `operator`.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_scheduler
