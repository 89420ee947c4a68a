// The operator service-ca: the authority of Services, the certificates that it signs for them, and its bundle in objects that ask
// for it. It runs in the process of another operator (docs/decisions/0027-service-ca.md).
#pragma once

#include "components/workload/workload_operator.h"

namespace slipway::components::service_ca {

// space: namespace of the process and its Lease
WorkloadOperator make_operator(std::string space);

}  // namespace slipway::components::service_ca
