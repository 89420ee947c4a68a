// The disk image that the machines of a cluster boot.
#pragma once

#include "net/environment.h"
#include "provider/libvirt/connection.h"

#include <string>
#include <string_view>

namespace slipway::provider::libvirt {

// Where the image comes from.
struct OsImageSource {
  std::string file{};         // an image of the user, in qcow2; empty: it is made from the machine OS of the release
  std::string repository{};   // the OSTree repository of the machine OS
  std::string programs{};     // the folder with the programs that make disk images
  std::string work_folder{};  // where the image is until it is uploaded
};

// Identifies the content of the image: 12 hexadecimal digits. errors: not_found: no such file, no such commit
Result<std::string> identify_os_image(const net::Environment& environment, const OsImageSource& source);

// Creates the volume and uploads the image, which it makes first if the user gave none.
//
//   platform  Ignition's name of the platform that the machines boot on (release/disk_image.h)
//   errors    also those of make_disk_image, and invalid: the user's file is not qcow2
//   time      10 s for making the image, and the upload
Result<> create_os_volume(const net::Environment& environment, Connection& connection, const OsImageSource& source,
                          std::string_view platform, const std::string& pool, const std::string& volume);

}  // namespace slipway::provider::libvirt
