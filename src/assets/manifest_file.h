// One object as the text of a manifest: keys sorted, as OpenShift's installer writes them (installer 5).
#pragma once

#include "assets/assets.h"

#include <string>

namespace slipway::assets {

AssetFile manifest_file(std::string path, const Json& object);

// {apiVersion, kind, metadata: {name, namespace}}, without a namespace when that is empty.
JsonObject object_of(std::string_view api_version, std::string_view kind, std::string_view name_space, std::string_view name);

}  // namespace slipway::assets
