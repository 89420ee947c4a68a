// Whether a live object has the content of a manifest.
#pragma once

#include "base/json.h"

#include <optional>
#include <string>

namespace slipway::kube {

// The first field of `wanted` whose value differs in `live` ("spec.replicas"); nullopt if all are equal. Ignores status and
// metadata, except labels and annotations. Empty values equal absent ones, and "1" equals 1, because servers normalize both.
// Pure.
std::optional<std::string> first_difference(const Json& wanted, const Json& live);

// Whether a value is null or a collection that contains only empty values.
bool is_empty(const Json* value);

}  // namespace slipway::kube
