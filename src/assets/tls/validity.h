// Until when assets can be used, and whether they can now: the lives of the certificates inside. Pure.
#pragma once

#include "assets/assets.h"
#include "base/findings.h"

namespace slipway::assets {

// The first certificate whose life ends.
struct Expiry {
  std::string certificate;  // "kubelet-signer"
  WallTime until{};

  bool operator==(const Expiry&) const = default;
};

// Of the certificates that we made; nothing when there are none.
std::optional<Expiry> first_expiry(const Tls& tls);

// One finding of the certificates, of tls/ and of the Ignition configs, whose time is over (assets-expired), and one of those
// whose time has not begun (clock-wrong: the clock that made them was ahead, or this one is behind).
Findings check_validity(const Assets& assets, WallTime now);

}  // namespace slipway::assets
