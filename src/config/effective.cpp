#include "base/sorted_keys.h"
#include "config/defaults.h"
#include "config/document.h"
#include "config/schema/schema.h"

namespace slipway::config {

namespace {

Json written_empty(const Field& field) {
  if (field.is_list || field.kind == Kind::any || field.kind == Kind::map) return nullptr;
  switch (field.kind) {
    case Kind::integer: return 0;
    case Kind::boolean: return false;
    case Kind::object: return JsonObject();
    default: return "";
  }
}

JsonObject as_written(const JsonObject& object, Fields fields);

Json as_written(const Json& value, const Field& field) {
  if (!field.members) return value;
  if (const JsonObject* object = value.if_object()) return as_written(*object, field.members());
  const JsonArray* items = value.if_array();
  if (!items) return value;
  JsonArray list;
  for (const Json& item : *items) list.push_back(as_written(item, field));
  return list;
}

JsonObject as_written(const JsonObject& object, Fields fields) {
  JsonObject result;
  for (const Field& field : fields) {
    const Json* given = object.if_contains(field.name);
    const bool has_content = given && (!is_empty(*given) || (field.empty == Empty::kept && !given->is_null()));
    if (!has_content && field.empty != Empty::written) continue;
    const bool is_empty_list = given && given->is_array();  // Go distinguishes it from a list that was not given
    result[field.name] = as_written(has_content || is_empty_list ? *given : written_empty(field), field);
  }
  return result;
}

// Overrides values of `base` with those of `overrides`. Empty values override nothing.
void merge(JsonObject& base, const JsonObject& overrides) {
  for (const auto& member : overrides) {
    if (const JsonObject* inner = member.value().if_object()) {
      const Json* given = base.if_contains(member.key());
      JsonObject merged = given && given->is_object() ? given->get_object() : JsonObject();
      merge(merged, *inner);
      if (!merged.empty()) base[member.key()] = std::move(merged);
    } else if (!is_empty(member.value())) {
      base[member.key()] = member.value();
    }
  }
}

}  // namespace

Json effective_config(const Json& value) {
  JsonObject config = as_written(value.as_object(), install_config_fields());
  config["metadata"].as_object()["creationTimestamp"] = nullptr;
  // Means the same as no field: the generated files must be the same too.
  if (text_of(value, {"imageMode", "policy"}) == "None") config.erase("imageMode");
  return sorted_keys(config);
}

JsonObject effective_pool(const Json& config, const Json& pool, std::string_view platform) {
  const PlatformTable* table = find_platform(platform);
  if (!table || !table->pool) return {};
  JsonObject section;
  merge(section, find_object(config, {"platform", platform, "defaultMachinePlatform"}));
  merge(section, find_object(pool, {"platform", platform}));
  fill_fallbacks(section, table->pool());
  return section;
}

}  // namespace slipway::config
