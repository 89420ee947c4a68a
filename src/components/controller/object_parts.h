// Parts of objects, for functions that reduce what a View keeps (Watched::reduce), and for plans. Pure.
#pragma once

#include "base/json.h"
#include "base/time.h"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace slipway::components {

// The named members that exist.
JsonObject part_of(const JsonObject& object, std::initializer_list<std::string_view> members);

// The type of an object, and the named members of its metadata that exist.
JsonObject reduced(const Json& object, std::initializer_list<std::string_view> metadata);

// Whether it was deleted and exists only until its finalizers are gone or its grace period is over.
bool is_terminating(const Json& object);

// An RFC 3339 time of an object. Empty if it is missing or invalid.
std::optional<WallTime> time_of(const Json& value, std::initializer_list<std::string_view> keys);

}  // namespace slipway::components
