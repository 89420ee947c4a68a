// The commands of slipway-node that belong to the bootstrap.
#pragma once

#include "base/result.h"
#include "net/environment.h"

#include <string>
#include <vector>

namespace slipway::bootstrap {

// bootstrap --release-image=IMAGE [--assets=/opt/openshift] [stage NAME]
//
// All stages that are not done, or one stage, whether or not it is done and without those it needs.
//
//   errors  invalid: arguments, the release, a stage that does not exist; conflict: another one is at work; what a stage failed
//   of
Result<> run_bootstrap(const net::Environment& machine, const std::vector<std::string>& arguments);

// image-for NAME [--assets=/opt/openshift]: prints the image of a component of the release, by digest, without a newline.
// errors: not_found, naming similar components
Result<> run_image_for(const net::Environment& machine, const std::vector<std::string>& arguments);

}  // namespace slipway::bootstrap
