// The environment of the functions of this folder that act.
#pragma once

#include "net/environment.h"

namespace slipway::cluster {

using Environment = net::Environment;

}  // namespace slipway::cluster
