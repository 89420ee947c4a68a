// dns-operator: manages CoreDNS, which resolves the names of Services and pods.
#pragma once

#include "components/workload/workload_operator.h"

namespace slipway::components::dns {

// image: image of CoreDNS, COREDNS_IMAGE in the operator's environment
WorkloadOperator make_operator(const std::string& image);

// The command.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::dns
