#include "config/defaults.h"

#include "config/platforms.h"
#include "config/schema/tables.h"

#include <algorithm>

namespace slipway::config {

namespace {

// The section. If it is missing or unusable, an empty section replaces it.
JsonObject& section(JsonObject& object, std::string_view name) {
  Json& value = object[name];
  if (!value.is_object()) value = JsonObject();
  return value.get_object();
}

// On platform local all machines share one host, so one worker is enough.
int default_replicas(std::string_view pool, bool is_local) {
  if (pool == "edge") return 0;
  return is_local && pool != "master" ? 1 : 3;
}

void fill_pool(JsonObject& pool, bool is_local) {
  const Json* name = pool.if_contains("name");
  const int usual = default_replicas(name && name->is_string() ? std::string_view(name->get_string()) : "", is_local);
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

// operator[] may move all members of an object, so references into the object do not outlive the next call.
void fill_pools(JsonObject& config, bool is_local) {
  JsonObject& control_plane = section(config, "controlPlane");
  control_plane["name"] = "master";  // replaces any other name
  fill_pool(control_plane, is_local);
  fill(config, "compute", JsonArray());
  if (JsonArray* pools = config["compute"].if_array()) fill_compute(*pools, is_local);
}

// Whether items of clusterNetwork may omit hostPrefix. OVNKubernetes and Flannel need it to split the network; other plugins may
// not. The deprecated list clusterNetworks never required it.
bool may_lack_host_prefix(const Document& document, const JsonObject& networking) {
  if (document.was_given("networking.clusterNetworks") && !document.was_given("networking.clusterNetwork")) return true;
  const Json* type = networking.if_contains("networkType");
  return type && *type != Json("OVNKubernetes") && *type != Json("Flannel");
}

void fill_host_prefixes(const Document& document, JsonObject& networking) {
  constexpr int usual = 23, usual_v6 = 64;
  Json* networks = networking.if_contains("clusterNetwork");
  if (!networks || !networks->is_array() || !may_lack_host_prefix(document, networking)) return;
  for (Json& network : networks->get_array()) {
    const auto cidr = net::parse_cidr(find_string(network, {"cidr"}).value_or(""));
    if (cidr.ok() && network.is_object()) fill(network.get_object(), "hostPrefix", cidr->is_v4() ? usual : usual_v6);
  }
}

void fill_networking(Document& document, JsonObject& config, std::string_view platform) {
  JsonObject& networking = section(config, "networking");
  const PlatformRow* row = find_platform_row(platform);
  const PlatformRow usual = row ? *row : PlatformRow{};
  fill(networking, "networkType", Json(usual.network_type));
  fill(networking, "machineNetwork", JsonArray{JsonObject{{"cidr", usual.machine_network}}});
  fill(networking, "serviceNetwork", JsonArray{"172.30.0.0/16"});
  fill(networking, "clusterNetwork", JsonArray{JsonObject{{"cidr", "10.128.0.0/14"}, {"hostPrefix", 23}}});
  fill_host_prefixes(document, networking);
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
  fill_networking(document, config, platform);
  fill_fallbacks(config, install_config_fields());
  if (const PlatformTable* table = find_platform(platform); table && table->section) fill_platform(document, platform);
}

}  // namespace slipway::config
