// dns-operator: CoreDNS, with which pods look up Services and pods.
#pragma once

#include "operators/lib/workload_operator.h"

namespace slipway::operators::dns {

// `image` is CoreDNS: COREDNS_IMAGE of the operator's environment.
WorkloadOperator make_operator(const std::string& image);

// The command.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators::dns
