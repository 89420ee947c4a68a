// `ingress-operator start`: the routers that IngressControllers ask for.
#pragma once

#include "components/program/program.h"
#include "components/workload/workload_operator.h"

#include <string>

namespace slipway::components::ingress {

// router_image: of the routers
WorkloadOperator make_operator(const std::string& router_image);

// The command. HAPROXY_ROUTER_IMAGE has to be set. errors: as run_workload_operator
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::ingress
