// The flags of base/flags.h, known under this namespace too.
#pragma once

#include "base/flags.h"

namespace slipway::operators {

using slipway::Flag;
using slipway::Flags;
using slipway::parse_flags;

}  // namespace slipway::operators
