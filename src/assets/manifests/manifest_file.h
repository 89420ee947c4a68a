// The text of a manifest with one object. Keys are sorted, as in those of OpenShift's installer.
#pragma once

#include "assets/assets.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::assets {

AssetFile manifest_file(std::string path, const Json& object);

// {apiVersion, kind, metadata: {name, namespace}}, without a namespace when that is empty.
JsonObject object_of(std::string_view api_version, std::string_view kind, std::string_view name_space, std::string_view name);

// data: by key, not encoded yet. An empty type is left out, which the API server reads as "Opaque".
JsonObject secret_object(std::string_view name_space, std::string_view name, std::string_view type,
                         const std::map<std::string, std::string>& data);

JsonObject config_map(std::string_view name_space, std::string_view name, JsonObject data);

// The number of one of `count` files: "07" of ten, so that their names stand in their order.
std::string file_number(std::size_t i, std::size_t count);

}  // namespace slipway::assets
