// Helpers to write manifests with one object, and to read them. Keys are sorted, as in manifests of OpenShift's installer.
#pragma once

#include "assets/assets.h"
#include "base/yaml.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::assets {

AssetFile manifest_file(std::string path, const Json& object);

// {apiVersion, kind, metadata: {name, namespace}}; an empty namespace is left out.
JsonObject object_of(std::string_view api_version, std::string_view kind, std::string_view name_space, std::string_view name);

// data: plain values by key; the function encodes them. An empty type is left out, which means "Opaque".
JsonObject secret_object(std::string_view name_space, std::string_view name, std::string_view type,
                         const std::map<std::string, std::string>& data);

JsonObject config_map(std::string_view name_space, std::string_view name, JsonObject data);

// The number of file `i` of `count`, padded with zeros so that names sort in numeric order: "07" of ten.
std::string file_number(std::size_t i, std::size_t count);

// An object of the set with the places of its fields. errors: those of parse_yaml_documents
Result<YamlDocument> document_of(const ManifestObject& object, const ManifestSet& manifests);

}  // namespace slipway::assets
