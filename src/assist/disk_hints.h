// Which disk of a host the hints in a config of a user mean. Pure.
#pragma once

#include "assist/requirements.h"
#include "base/json.h"

namespace slipway::assist {

// The first disk that can be installed on and matches all hints; null if there is none. Without hints: the first one.
//
//   hints  rootDeviceHints: deviceName, hctl, model, vendor (parts of the names), serialNumber, minSizeGigabytes, wwn, rotational
const Disk* find_hinted_disk(const Inventory& inventory, const Requirements& needed, const Json& hints);

}  // namespace slipway::assist
