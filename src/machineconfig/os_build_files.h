// Records of builds of operating system images on the disk of a machine: build.json says what to build; image.json is the result,
// failure.json why there is none.
#pragma once

#include "machineconfig/os_build.h"
#include "sys/files.h"

#include <optional>
#include <string>

namespace slipway::machineconfig {

// Nothing if the file does not exist. errors: invalid, with the path; those of files
Result<std::optional<OsBuild>> read_os_build(sys::Files& files, const std::string& path);
Result<std::optional<OsImage>> read_os_image(sys::Files& files, const std::string& path);

Result<> write_os_image(sys::Files& files, const std::string& path, const OsImage& image);

// The failure of a build, with its code. Every user of the machine may read it.
//
//   {"code": "denied", "message": "..."}
Result<> write_os_failure(sys::Files& files, const std::string& path, const Error& why);
Result<std::optional<Error>> read_os_failure(sys::Files& files, const std::string& path);

}  // namespace slipway::machineconfig
