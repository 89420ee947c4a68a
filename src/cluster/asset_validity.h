// Whether the certificates of the assets can be used now. Pure.
#pragma once

#include "assets/assets.h"
#include "base/findings.h"

namespace slipway::cluster {

// One finding of the certificates, of tls/ and of the Ignition configs, whose time is over (assets-expired), and one of those
// whose time has not begun (clock-wrong: the clock that made them was ahead, or this one is behind).
Findings check_validity(const assets::Assets& assets, WallTime now);

}  // namespace slipway::cluster
