// Sorts the members of objects, for documents whose text must be reproducible and comparable.
#pragma once

#include "base/json.h"

namespace slipway {

// The same document with the members of all objects sorted by name, bytewise, as Go writes maps.
Json sorted_keys(const Json& value);

}  // namespace slipway
