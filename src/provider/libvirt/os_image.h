// The disk image that the machines of a cluster boot.
#pragma once

#include "net/environment.h"
#include "provider/libvirt/connection.h"
#include "provider/os_image.h"

#include <string>
#include <string_view>

namespace slipway::provider::libvirt {

// Creates the volume and uploads the image, which it makes first if the user gave none.
//
//   platform  Ignition's name of the platform that the machines boot on (release/disk_image.h)
//   errors    also those of make_disk_image, and invalid: the user's file is not qcow2
//   time      10 s for making the image, and the upload
Result<> create_os_volume(const net::Environment& environment, Connection& connection, const OsImageSource& source,
                          std::string_view platform, const std::string& pool, const std::string& volume);

}  // namespace slipway::provider::libvirt
