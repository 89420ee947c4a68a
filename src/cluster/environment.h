// What acting functions of this folder get.
#pragma once

#include "net/environment.h"

namespace slipway::cluster {

using Environment = net::Environment;

}  // namespace slipway::cluster
