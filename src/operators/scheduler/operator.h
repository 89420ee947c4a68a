// cluster-kube-scheduler-operator operator: the schedulers of the masters.
#pragma once

#include "operators/lib/static_pod_operator.h"

namespace slipway::operators::scheduler {

StaticPodOperator make_operator(const OperatorVariables& variables);

// The command `operator`.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators::scheduler
