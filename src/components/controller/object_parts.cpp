#include "components/controller/object_parts.h"

namespace slipway::components {

JsonObject part_of(const JsonObject& object, std::initializer_list<std::string_view> members) {
  JsonObject part;
  for (const std::string_view member : members) {
    if (const Json* value = object.if_contains(member)) part[member] = *value;
  }
  return part;
}

JsonObject reduced(const Json& object, std::initializer_list<std::string_view> metadata) {
  JsonObject kept = part_of(object.as_object(), {"apiVersion", "kind"});
  kept["metadata"] = part_of(find_object(object, {"metadata"}), metadata);
  return kept;
}

bool is_terminating(const Json& object) { return find(object, {"metadata", "deletionTimestamp"}) != nullptr; }

std::optional<WallTime> time_of(const Json& value, std::initializer_list<std::string_view> keys) {
  const Result<WallTime> time = parse_rfc3339(find_string(value, keys).value_or(""));
  return time.ok() ? std::optional(time.value()) : std::nullopt;
}

}  // namespace slipway::components
