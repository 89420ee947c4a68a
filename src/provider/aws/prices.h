// What the resources of a cluster are called in price files: "machine/m6i.xlarge", "volume/gp3" (GiB), "nat-gateway",
// "load-balancer", "public-ipv4", "hosted-zone". Pure.
#pragma once

#include "provider/aws/inventory.h"
#include "provider/plan/preview.h"
#include "provider/plan/resource.h"

#include <vector>

namespace slipway::provider::aws {

// Of a plan. Traffic, requests and what load balancers process by use are not in it.
std::vector<plan::Priced> priced_plan(const plan::Plan& plan);

// Of what exists; without volumes.
std::vector<plan::Priced> priced_items(const std::vector<Item>& machines, const std::vector<plan::Found>& found);

}  // namespace slipway::provider::aws
