// The operator storage: StorageClasses for local volumes, and their provisioner. It runs in the process of another operator
// (docs/decisions/0028-local-volumes.md); the folders on nodes are kept by the machine-config-daemon (node/volumes.h).
#pragma once

#include "components/workload/workload_operator.h"

namespace slipway::components::storage {

inline constexpr std::string_view deleting_class = "local", retaining_class = "local-retain";

// space: namespace of the process and its Lease
WorkloadOperator make_operator(std::string space);

}  // namespace slipway::components::storage
