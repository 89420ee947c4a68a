// The flags of base/flags.h, known under this namespace too.
#pragma once

#include "base/flags.h"

namespace slipway::components {

using slipway::Flag;
using slipway::Flags;
using slipway::parse_flags;

}  // namespace slipway::components
