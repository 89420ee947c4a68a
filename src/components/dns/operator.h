// dns-operator: CoreDNS, with which pods look up Services and pods.
#pragma once

#include "components/workload/workload_operator.h"

namespace slipway::components::dns {

// `image` is CoreDNS: COREDNS_IMAGE of the operator's environment.
WorkloadOperator make_operator(const std::string& image);

// The command.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::dns
