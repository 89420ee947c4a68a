// machine-approver operator: the approver of the cluster, once the bootstrap machine is gone. Namespace
// openshift-cluster-machine-approver, ClusterOperator machine-approver.
#pragma once

#include "components/workload/workload_operator.h"

namespace slipway::components::machine_approver {

// The approver runs as its observer; the aim only says in conditions whether it follows the cluster, and whether the table of
// machines can be used.
WorkloadOperator make_operator();

// What the observer puts into the view when it follows the cluster.
Json following_fact();

// The command `operator`; as run_workload_operator.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_approver
