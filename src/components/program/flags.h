// The flags of base/flags.h in this namespace.
#pragma once

#include "base/flags.h"

namespace slipway::components {

using slipway::Flag;
using slipway::Flags;
using slipway::parse_flags;

}  // namespace slipway::components
