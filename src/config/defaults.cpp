#include "config/document.h"
#include "net/ip.h"

#include <algorithm>

namespace slipway::config {

namespace {

// Where the section is missing or was unusable, an empty one.
JsonObject& section(JsonObject& object, std::string_view name) {
  Json& value = object[name];
  if (!value.is_object()) value = JsonObject();
  return value.get_object();
}

// An empty text and an empty list count as not given, as in Go.
void fill(JsonObject& object, std::string_view name, Json fallback) {
  Json& value = object[name];
  const bool missing =
      value.is_null() || (value.is_string() && value.get_string().empty()) || (value.is_array() && value.get_array().empty());
  if (missing) value = std::move(fallback);
}

void fill_pool(JsonObject& pool) {
  fill(pool, "replicas", 3);
  fill(pool, "hyperthreading", "Enabled");
  fill(pool, "architecture", "amd64");
  fill(pool, "platform", JsonObject());
}

void fill_pools(JsonObject& config, bool is_local) {
  JsonObject& control_plane = section(config, "controlPlane");
  control_plane["name"] = "master";
  fill_pool(control_plane);
  fill(config, "compute", JsonArray());
  if (!config["compute"].is_array()) return;
  JsonArray& compute = config["compute"].get_array();
  const bool has_workers = std::ranges::any_of(compute, [](const Json& pool) { return find_string(pool, {"name"}) == "worker"; });
  if (!has_workers) compute.push_back(JsonObject{{"name", "worker"}});
  for (Json& pool : compute) {
    // All of them share one host: one worker shows everything that three do.
    if (is_local && pool.is_object()) fill(pool.get_object(), "replicas", 1);
  }
  for (Json& pool : compute) {
    if (pool.is_object()) fill_pool(pool.get_object());
  }
}

void fill_networking(JsonObject& config, bool is_local) {
  JsonObject& networking = section(config, "networking");
  fill(networking, "networkType", is_local ? "Flannel" : "OVNKubernetes");
  fill(networking, "machineNetwork", JsonArray{JsonObject{{"cidr", is_local ? "10.97.77.0/24" : "10.0.0.0/16"}}});
  fill(networking, "serviceNetwork", JsonArray{"172.30.0.0/16"});
  fill(networking, "clusterNetwork", JsonArray{JsonObject{{"cidr", "10.128.0.0/14"}, {"hostPrefix", 23}}});
}

void fill_local(Json& config) {
  JsonObject& object = config.as_object();
  fill(object, "pullSecret", R"({"auths":{}})");
  fill(object, "credentialsMode", "Manual");
  const JsonArray& networks = find_array(config, {"networking", "machineNetwork"});
  const auto network = net::parse_cidr(networks.empty() ? "" : find_string(networks[0], {"cidr"}).value_or(""));
  if (!network.ok()) return;
  JsonObject& local = section(section(object, "platform"), "local");
  const auto address = [&](std::uint64_t host) -> Json {
    const auto found = network->host(host);
    return found.ok() ? Json(JsonArray{Json(net::to_string(found.value()))}) : Json();
  };
  // Outside of what machines of this platform get (provider/local/address_plan.h).
  fill(local, "apiVIPs", address(5));
  fill(local, "ingressVIPs", address(7));
}

}  // namespace

void fill_in_defaults(Document& document) {
  JsonObject& config = document.value.as_object();
  const bool is_local = platform_type(document) == "local";
  fill_pools(config, is_local);
  fill_networking(config, is_local);
  fill(config, "publish", "External");
  fill(config, "additionalTrustBundlePolicy", "Proxyonly");
  if (Json* external = config.contains("platform") ? section(config, "platform").if_contains("external") : nullptr;
      external && external->is_object()) {
    fill(external->get_object(), "platformName", "Unknown");
  }
  if (JsonObject* strategy =
          config.contains("operatorPublishingStrategy") ? &section(config, "operatorPublishingStrategy") : nullptr) {
    fill(*strategy, "ingress", "External");
    fill(*strategy, "apiserver", "External");
  }
  if (is_local) fill_local(document.value);
}

}  // namespace slipway::config
