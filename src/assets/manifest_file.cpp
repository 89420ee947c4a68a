#include "assets/manifest_file.h"

#include "base/check.h"
#include "base/digest.h"
#include "base/sorted_keys.h"
#include "base/yaml.h"

#include <algorithm>

namespace slipway::assets {

AssetFile manifest_file(std::string path, const Json& object) { return {std::move(path), emit_yaml(sorted_keys(object))}; }

JsonObject object_of(std::string_view api_version, std::string_view kind, std::string_view name_space, std::string_view name) {
  JsonObject metadata = {{"name", name}};
  if (!name_space.empty()) metadata.emplace("namespace", name_space);
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

JsonObject secret_object(std::string_view name_space, std::string_view name, std::string_view type,
                         const std::map<std::string, std::string>& data) {
  JsonObject object = object_of("v1", "Secret", name_space, name);
  if (!type.empty()) object["type"] = type;
  JsonObject encoded;
  for (const auto& [key, value] : data) encoded[key] = base64_encode(value);
  object["data"] = std::move(encoded);
  return object;
}

JsonObject config_map(std::string_view name_space, std::string_view name, JsonObject data) {
  JsonObject object = object_of("v1", "ConfigMap", name_space, name);
  object["data"] = std::move(data);
  return object;
}

Result<YamlDocument> document_of(const ManifestObject& object, const ManifestSet& manifests) {
  const auto file = std::ranges::find(manifests.files, object.path, &AssetFile::path);
  CHECK(file != manifests.files.end());
  std::vector<YamlDocument> documents = TRY(parse_yaml_documents(file->content, file->path));
  const auto document = std::ranges::find(documents, object.value, &YamlDocument::value);
  CHECK(document != documents.end());
  return std::move(*document);
}

std::string file_number(std::size_t i, std::size_t count) { return fmt::format("{:0>{}}", i, std::to_string(count).size()); }

}  // namespace slipway::assets
