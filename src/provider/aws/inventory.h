// What a cluster has in an account of AWS.
#pragma once

#include "provider/aws/api.h"
#include "provider/plan/inventory.h"

namespace slipway::provider::aws {

using plan::Inventory;
using plan::Item;

}  // namespace slipway::provider::aws
