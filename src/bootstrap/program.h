// The commands of slipway-node for the bootstrap.
#pragma once

#include "base/result.h"
#include "net/environment.h"

#include <string>
#include <vector>

namespace slipway::bootstrap {

// bootstrap --release-image=IMAGE [--assets=/opt/openshift] [stage NAME]
//
// Runs all stages that are not done. With `stage`, runs that stage only, even if it is done, and without the stages that it
// needs.
//
//   errors  invalid: arguments, the release, an unknown stage; conflict: another bootstrap is running; the error of a stage
Result<> run_bootstrap(const net::Environment& machine, const std::vector<std::string>& arguments);

// image-for NAME [--assets=/opt/openshift]: prints the image of a component of the release, by digest, without a newline.
// errors: not_found, naming similar components
Result<> run_image_for(const net::Environment& machine, const std::vector<std::string>& arguments);

}  // namespace slipway::bootstrap
