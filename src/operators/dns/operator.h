// dns-operator: names of Services and pods for the pods (operators 8.3).
#pragma once

#include "operators/lib/workload_operator.h"

namespace slipway::operators::dns {

// `image` is CoreDNS: COREDNS_IMAGE of the operator's environment.
WorkloadOperator make_operator(const std::string& image);

// The command.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators::dns
