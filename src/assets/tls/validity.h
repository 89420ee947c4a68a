// Checks the validity of the certificates in the assets. Pure.
#pragma once

#include "assets/assets.h"
#include "base/findings.h"

namespace slipway::assets {

// The certificate that expires first.
struct Expiry {
  std::string certificate;  // "kubelet-signer"
  WallTime until{};

  bool operator==(const Expiry&) const = default;
};

// Empty without certificates.
std::optional<Expiry> first_expiry(const Tls& tls);

// Checks the certificates of tls/ and of the Ignition configs. Returns at most two findings: assets-expired for expired
// certificates, clock-wrong for certificates that are not valid yet (the clock of the host that generated them was ahead, or the
// clock of this host is behind).
Findings check_validity(const Assets& assets, WallTime now);

}  // namespace slipway::assets
