// cluster-kube-controller-manager-operator operator: the controller managers of the masters, each with a cluster policy
// controller in its pod.
#pragma once

#include "components/static_pod/static_pod_operator.h"

#include <string>

namespace slipway::components::kube_controller_manager {

// policy_image: image of the cluster policy controller; the image of the controller manager is in the variables
StaticPodOperator make_operator(const OperatorVariables& variables, const std::string& policy_image);

// The command `operator`. errors: those of run_static_pod_operator; invalid: CLUSTER_POLICY_CONTROLLER_IMAGE is not set
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_controller_manager
