// The disk image that the machines of a cluster boot, on platforms that import one.
#pragma once

#include "net/environment.h"

#include <string>
#include <string_view>

namespace slipway::provider {

// Where the image comes from.
struct OsImageSource {
  std::string file{};         // an image of the user; empty: it is made from the machine OS of the release
  std::string repository{};   // the OSTree repository of the machine OS
  std::string programs{};     // the folder with the programs that make disk images
  std::string work_folder{};  // where the image is until it is uploaded
};

// Identifies the content of the image: 12 hexadecimal digits. errors: not_found: no such file, no such commit
Result<std::string> identify_os_image(const net::Environment& environment, const OsImageSource& source);

// A file with the image, which the caller removes after the upload if the user gave none.
//
//   platform  Ignition's name of the platform that the machines boot on (release/disk_image.h)
//   name      of the file in the work folder
//   returns   the path of the user's file, or of the new one
//   errors    those of make_disk_image
//   time      5 s for a raw image, more for others
Result<std::string> os_image_file(const net::Environment& environment, const OsImageSource& source, std::string_view platform,
                                  std::string_view format, const std::string& name);

}  // namespace slipway::provider
