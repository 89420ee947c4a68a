// The order of members, for documents whose text has to be the same whoever made them and that people compare.
#pragma once

#include "base/json.h"

namespace slipway {

// The same document with the members of every object in it in the order of their names, byte by byte, as Go writes maps.
Json sorted_keys(const Json& value);

}  // namespace slipway
