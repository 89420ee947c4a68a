// cluster-kube-apiserver-operator operator: the API servers of the masters, and the certificates of the control plane.
#pragma once

#include "components/static_pod/static_pod_operator.h"

namespace slipway::components::kube_apiserver {

StaticPodOperator make_operator(const OperatorVariables& variables);

// The command `operator`; see run_static_pod_operator.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_apiserver
