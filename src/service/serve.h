// The programs of the service: `slipway-assist serve` and `slipway-assist status`.
#pragma once

#include "net/environment.h"

#include <string>
#include <vector>

namespace slipway::service {

// Serves until a stop is requested. Prints the address when it answers.
//
//   errors  invalid: flags; conflict: another service uses the folder or the port; denied, unavailable: the folder cannot be
//   written
Result<> run_serve(const net::Environment& environment, const std::vector<std::string>& arguments);

// Prints the clusters and hosts of the service that uses the folder.
Result<> run_status(const net::Environment& environment, const std::vector<std::string>& arguments);

}  // namespace slipway::service
