// What the resources of a cluster are called in price files: "machine/m1.xlarge", "volume/fast" (GiB), "floating-ip", "router".
// OpenStack has no price list, so slipway has no price file for it. Pure.
#pragma once

#include "provider/openstack/work.h"
#include "provider/plan/preview.h"

#include <vector>

namespace slipway::provider::openstack {

// Of a plan.
std::vector<plan::Priced> priced_plan(const plan::Plan& plan);

// Of what exists; without volumes.
std::vector<plan::Priced> priced_items(const std::vector<Item>& machines, const std::vector<plan::Found>& found,
                                       const std::vector<Flavor>& flavors);

}  // namespace slipway::provider::openstack
