#include "components/cluster_version/prune.h"

#include "kube/types.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace slipway::components::cluster_version {

namespace {

// What people keep in namespaces. Other objects depend on these or grant access only.
const std::vector<kube::ResourceType>& kept_types() {
  static const std::vector<kube::ResourceType> types = {
      kube::types::pods,        kube::types::deployments,
      kube::types::daemon_sets, kube::types::stateful_sets,
      kube::types::jobs,        kube::types::cron_jobs,
      kube::types::services,    kube::types::config_maps,
      kube::types::secrets,     {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"},
  };
  return types;
}

// Controllers create them in every namespace.
constexpr std::array<std::string_view, 2> given_config_maps = {"kube-root-ca.crt", "openshift-service-ca.crt"};

bool is_given(const Json& object) {
  return find_string(object, {"kind"}) == "ConfigMap" &&
         std::ranges::find(given_config_maps, kube::name_of(object)) != given_config_maps.end();
}

Result<std::optional<std::string>> content_of_namespace(const sys::Context& context, kube::Api& api, std::string_view name) {
  for (const kube::ResourceType& type : kept_types()) {
    const Result<std::vector<Json>> objects = kube::list(context, api, type, name);
    if (!objects.ok() && objects.error().code() == Code::not_found) continue;  // this server does not have the type
    if (!objects.ok()) return objects.error();
    const auto own = std::ranges::find_if_not(objects.value(), is_given);
    if (own != objects->end()) return std::optional(fmt::format("it contains {} {}", type.kind, kube::name_of(*own)));
  }
  return std::optional<std::string>();
}

Result<std::optional<std::string>> objects_of_definition(const sys::Context& context, kube::Api& api, const Json& live) {
  const auto text = [&](std::initializer_list<std::string_view> keys) { return text_of(live, keys); };
  for (const Json& version : find_array(live, {"spec", "versions"})) {
    const Json* is_served = find(version, {"served"});
    if (!is_served || *is_served != Json(true)) continue;
    const kube::ResourceType type{text({"spec", "group"}), text_of(version, {"name"}), text({"spec", "names", "plural"}),
                                  text({"spec", "names", "kind"}), text({"spec", "scope"}) == "Namespaced"};
    const Result<std::vector<Json>> objects = kube::list(context, api, type, "");
    if (!objects.ok() && objects.error().code() == Code::not_found) return std::optional<std::string>();  // not served any more
    if (!objects.ok()) return objects.error();
    if (objects->empty()) return std::optional<std::string>();
    return std::optional(
        fmt::format("{} objects of this type exist, for example {}", objects->size(), kube::name_of(objects->front())));
  }
  return std::optional<std::string>("it serves no version, so its objects cannot be counted");
}

}  // namespace

Result<std::optional<std::string>> prune(const sys::Context& context, kube::Api& api, kube::Mapper& mapper,
                                         const Json& manifest) {
  const std::optional<kube::ResourceType> type = TRY(mapper.type_of(context, manifest));
  if (!type) return std::optional<std::string>();
  const std::string_view space = type->namespaced ? kube::namespace_of(manifest) : "", name = kube::name_of(manifest);
  const std::optional<Json> live = TRY(kube::find(context, api, *type, space, name));
  if (!live || !text_of(*live, {"metadata", "deletionTimestamp"}).empty()) return std::optional<std::string>();
  std::optional<std::string> content;
  if (*type == kube::types::namespaces) content = TRY(content_of_namespace(context, api, name));
  if (*type == kube::types::custom_resource_definitions) content = TRY(objects_of_definition(context, api, *live));
  if (content) return content;
  TRY(kube::remove(context, api, *type, space, name));
  context.log.info("{} is removed: the release does not have it any more", kube::describe(manifest));
  return std::optional<std::string>();
}

}  // namespace slipway::components::cluster_version
