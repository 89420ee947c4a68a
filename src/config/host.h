// Facts about the host that reads an install-config, for the rules.
#pragma once

namespace slipway::config {

struct Host {
  bool has_fips = false;          // the kernel is in FIPS mode
  bool skips_fips_check = false;  // OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION is set
};

}  // namespace slipway::config
