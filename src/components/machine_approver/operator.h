// machine-approver operator: the approver in the cluster, after the bootstrap machine is gone. Namespace
// openshift-cluster-machine-approver, ClusterOperator machine-approver.
#pragma once

#include "components/workload/workload_operator.h"

namespace slipway::components::machine_approver {

// The approver is its observer. The desired state has only conditions: whether the approver watches the cluster, and whether the
// machine table can be read.
WorkloadOperator make_operator();

// The fact that the observer puts into the view when it watches the cluster.
Json following_fact();

// The command `operator`. Arguments and errors as run_workload_operator.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_approver
