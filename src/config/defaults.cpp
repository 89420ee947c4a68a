#include "config/defaults.h"

#include "config/schema_tables.h"

#include <algorithm>

namespace slipway::config {

namespace {

// Where the section is missing or was unusable, an empty one.
JsonObject& section(JsonObject& object, std::string_view name) {
  Json& value = object[name];
  if (!value.is_object()) value = JsonObject();
  return value.get_object();
}

// All of them share one host on platform local: one worker shows everything that three do.
int usual_replicas(std::string_view pool, bool is_local) {
  if (pool == "edge") return 0;
  return is_local && pool != "master" ? 1 : 3;
}

void fill_pool(JsonObject& pool, bool is_local) {
  const Json* name = pool.if_contains("name");
  const int usual = usual_replicas(name && name->is_string() ? std::string_view(name->get_string()) : "", is_local);
  if (Json& replicas = pool["replicas"]; replicas.is_null()) replicas = usual;
  section(pool, "platform");
}

void fill_compute(JsonArray& pools, bool is_local) {
  const bool has_workers = std::ranges::any_of(pools, [](const Json& pool) { return find_string(pool, {"name"}) == "worker"; });
  if (!has_workers) pools.push_back(JsonObject{{"name", "worker"}});
  for (Json& pool : pools) {
    if (pool.is_object()) fill_pool(pool.get_object(), is_local);
  }
}

// A reference into an object lives until the next use of its operator [], which may move all members.
void fill_pools(JsonObject& config, bool is_local) {
  JsonObject& control_plane = section(config, "controlPlane");
  control_plane["name"] = "master";  // whatever the user calls it (installer 2.3)
  fill_pool(control_plane, is_local);
  fill(config, "compute", JsonArray());
  if (JsonArray* pools = config["compute"].if_array()) fill_compute(*pools, is_local);
}

std::string_view usual_machine_network(std::string_view platform) {
  if (platform == "local") return "10.97.77.0/24";
  if (platform == "libvirt") return "192.168.126.0/24";
  return "10.0.0.0/16";
}

void fill_networking(JsonObject& config, std::string_view platform) {
  JsonObject& networking = section(config, "networking");
  fill(networking, "networkType", platform == "local" ? "Flannel" : "OVNKubernetes");
  fill(networking, "machineNetwork", JsonArray{JsonObject{{"cidr", usual_machine_network(platform)}}});
  fill(networking, "serviceNetwork", JsonArray{"172.30.0.0/16"});
  fill(networking, "clusterNetwork", JsonArray{JsonObject{{"cidr", "10.128.0.0/14"}, {"hostPrefix", 23}}});
}

}  // namespace

bool is_empty(const Json& value) {
  if (value.is_string()) return value.get_string().empty();
  if (value.is_array()) return value.get_array().empty();
  return value.is_null() || value == Json(0) || value == Json(false);
}

void fill(JsonObject& object, std::string_view name, Json value) {
  if (Json& given = object[name]; is_empty(given)) given = std::move(value);
}

void fill_fallbacks(JsonObject& object, Fields fields) {
  for (const Field& field : fields) {
    if (field.members == pool_sections || field.name == "defaultMachinePlatform") continue;
    if (!field.fallback.empty()) fill(object, field.name, fallback_value(field));
    if (!field.members) continue;
    Json* value = object.if_contains(field.name);
    if (!value && field.empty == Empty::written && !field.is_list) {
      JsonObject made;
      fill_fallbacks(made, field.members());
      if (!made.empty()) object[field.name] = std::move(made);
    }
    if (!value) continue;
    if (JsonObject* inner = value->if_object()) fill_fallbacks(*inner, field.members());
    if (JsonArray* items = value->if_array()) {
      for (Json& item : *items) {
        if (item.is_object()) fill_fallbacks(item.get_object(), field.members());
      }
    }
  }
}

void fill_in_defaults(Document& document) {
  JsonObject& config = document.value.as_object();
  const std::string platform = platform_type(document);
  fill_pools(config, platform == "local");
  fill_networking(config, platform);
  fill_fallbacks(config, install_config_fields());
  if (const PlatformTable* table = find_platform(platform); table && table->section) fill_platform(document, platform);
}

}  // namespace slipway::config
