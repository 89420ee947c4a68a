#include "base/sorted_keys.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace slipway {

Json sorted_keys(const Json& value) {
  if (const JsonArray* items = value.if_array()) {
    JsonArray sorted;
    for (const Json& item : *items) sorted.push_back(sorted_keys(item));
    return sorted;
  }
  const JsonObject* members = value.if_object();
  if (!members) return value;
  std::vector<std::string_view> keys;
  for (const auto& member : *members) keys.push_back(member.key());
  std::ranges::sort(keys);
  JsonObject sorted;
  for (std::string_view key : keys) sorted.emplace(key, sorted_keys(members->at(key)));
  return sorted;
}

}  // namespace slipway
