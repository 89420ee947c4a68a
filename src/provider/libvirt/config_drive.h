// A medium with an Ignition config, as OpenStack's config drives are: an ISO 9660 file system named config-2.
// https://docs.openstack.org/nova/latest/user/metadata.html
#pragma once

#include "net/environment.h"

#include <string>

namespace slipway::provider::libvirt {

// The content of the medium. errors: invalid: xorriso is not installed, with a hint; those of the runner and of files
Result<std::string> make_config_drive(const net::Environment& environment, const std::string& ignition);

}  // namespace slipway::provider::libvirt
