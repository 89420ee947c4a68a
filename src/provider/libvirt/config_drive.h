// A medium with an Ignition config, as OpenStack's config drives are: an ISO 9660 file system named config-2.
// https://docs.openstack.org/nova/latest/user/metadata.html
#pragma once

#include "net/environment.h"
#include "sys/programs.h"

#include <array>
#include <string>

namespace slipway::provider::libvirt {

inline constexpr std::array config_drive_programs = {sys::NeededProgram{"xorriso", "xorriso"}};

// The content of the medium. errors: invalid: a program is missing, with a hint; those of the runner and of files
Result<std::string> make_config_drive(const net::Environment& environment, const std::string& ignition);

}  // namespace slipway::provider::libvirt
