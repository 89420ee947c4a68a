// `ingress-operator start`: manages the routers of IngressControllers.
#pragma once

#include "components/program/program.h"
#include "components/workload/workload_operator.h"

#include <string>

namespace slipway::components::ingress {

// router_image: image of the routers
WorkloadOperator make_operator(const std::string& router_image);

// The command. Requires HAPROXY_ROUTER_IMAGE. errors: those of run_workload_operator
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::ingress
