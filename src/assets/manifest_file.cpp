#include "assets/manifest_file.h"

#include "base/sorted_keys.h"
#include "base/yaml.h"

namespace slipway::assets {

AssetFile manifest_file(std::string path, const Json& object) { return {std::move(path), emit_yaml(sorted_keys(object))}; }

JsonObject object_of(std::string_view api_version, std::string_view kind, std::string_view name_space, std::string_view name) {
  JsonObject metadata = {{"name", name}};
  if (!name_space.empty()) metadata.emplace("namespace", name_space);
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

}  // namespace slipway::assets
