// The Ignition config in a discovery image.
#pragma once

#include "cli/command.h"

#include <string>

namespace slipway::cli {

// Reads the parts of the image that are needed: some kilobytes.
//
//   image    an ISO file, or its URL
//   ca_file  PEM of the authorities of the URL's server; empty: the system's
//   errors   invalid: no discovery image; those of files and of Http
Result<std::string> discovery_config(const Environment& environment, const std::string& image, const std::string& ca_file);

}  // namespace slipway::cli
