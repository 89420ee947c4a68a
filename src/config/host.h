// What the rules of an install-config have to know of the host that reads it.
#pragma once

namespace slipway::config {

struct Host {
  bool has_fips = false;          // its kernel is in FIPS mode
  bool skips_fips_check = false;  // the user takes it without: OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION
};

}  // namespace slipway::config
