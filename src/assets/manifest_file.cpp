#include "assets/manifest_file.h"

#include "base/yaml.h"

#include <algorithm>

namespace slipway::assets {

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

AssetFile manifest_file(std::string path, const Json& object) { return {std::move(path), emit_yaml(sorted_keys(object))}; }

JsonObject object_of(std::string_view api_version, std::string_view kind, std::string_view name_space, std::string_view name) {
  JsonObject metadata = {{"name", name}};
  if (!name_space.empty()) metadata.emplace("namespace", name_space);
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

}  // namespace slipway::assets
