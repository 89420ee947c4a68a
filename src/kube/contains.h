// Whether an object of the server has what a manifest asks for.
#pragma once

#include "base/json.h"

#include <optional>
#include <string>

namespace slipway::kube {

// The first field of `wanted` that `live` does not have like that ("spec.replicas"); nothing when all are. Status and metadata
// are not looked at, but for labels and annotations. What is empty counts as absent, "1" as 1: servers write both their own way.
// Pure.
std::optional<std::string> first_difference(const Json& wanted, const Json& live);

// Whether a value is null or a collection with nothing but such values in it.
bool is_empty(const Json* value);

}  // namespace slipway::kube
