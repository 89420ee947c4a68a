#include "components/render/api_server_pace.h"

#include "base/yaml.h"
#include "data/data.h"

namespace slipway::components {

namespace {

int seconds(const Json& entry, std::string_view key) {
  const Json* value = find(entry, {key});
  return value != nullptr && value->is_int64() ? static_cast<int>(value->get_int64()) : 0;
}

}  // namespace

Result<ApiServerPace> api_server_pace(const Infrastructure& infrastructure, bool is_temporary) {
  constexpr std::string_view path = "kube_apiserver/pace.yaml";
  const YamlDocument table = TRY(parse_yaml(data::content(data::components(), path), path));
  const std::string_view topology = infrastructure.single_replica ? "SingleReplica" : "HighlyAvailable";
  for (const Json& entry : table.value.as_array()) {
    if (find_string(entry, {"topology"}).value_or(topology) != topology) continue;
    if (find_string(entry, {"platform"}).value_or(infrastructure.platform) != infrastructure.platform) continue;
    if (find_string(entry, {"server"}) == "temporary" && !is_temporary) continue;
    return ApiServerPace{seconds(entry, "delay"), seconds(entry, "grace")};
  }
  return error(Code::internal, "{} has no entry for platform {}", path, infrastructure.platform);
}

}  // namespace slipway::components
