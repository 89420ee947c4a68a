#include "kube/mapper.h"

namespace slipway::kube {

namespace {

// The types in an APIResourceList. Subresources such as "pods/status" are skipped.
std::map<std::string, ResourceType> kinds_of(const std::string& api_version, const Json& resources) {
  const std::size_t slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  std::map<std::string, ResourceType> kinds;
  for (const Json& resource : find_array(resources, {"resources"})) {
    const std::string plural(find_string(resource, {"name"}).value_or(""));
    const std::string kind(find_string(resource, {"kind"}).value_or(""));
    if (plural.empty() || kind.empty() || plural.find('/') != std::string::npos) continue;
    const Json* namespaced = slipway::find(resource, {"namespaced"});
    kinds.try_emplace(kind, ResourceType{group, version, plural, kind, namespaced && *namespaced == true});
  }
  return kinds;
}

}  // namespace

Result<std::optional<ResourceType>> Mapper::type_of(const sys::Context& context, const Json& object) {
  const std::string api_version = TRY(require_string(object, {"apiVersion"}));
  const std::string kind = TRY(require_string(object, {"kind"}));
  auto lookup = [&](bool& is_fresh) {
    return groups_.with_lock([&](std::map<std::string, Group>& groups) -> std::optional<ResourceType> {
      const Group& group = groups[api_version];
      is_fresh = group.is_fresh;
      const auto found = group.kinds.find(kind);
      return found == group.kinds.end() ? std::nullopt : std::optional(found->second);
    });
  };
  bool is_fresh = false;
  std::optional<ResourceType> known = lookup(is_fresh);
  if (known || is_fresh) return known;
  Result<Json> answer = api_.send(context, {.path = root_of(api_version)});
  if (!answer.ok() && answer.error().code() != Code::not_found) return std::move(answer).error();
  auto kinds = answer.ok() ? kinds_of(api_version, answer.value()) : std::map<std::string, ResourceType>();
  groups_.with_lock([&](std::map<std::string, Group>& groups) { groups[api_version] = {std::move(kinds), true}; });
  return lookup(is_fresh);
}

void Mapper::refresh() {
  groups_.with_lock([](std::map<std::string, Group>& groups) {
    for (auto& [name, group] : groups) group.is_fresh = false;
  });
}

}  // namespace slipway::kube
