#include "assets/platform.h"

#include "base/text.h"

#include <set>

namespace slipway::assets {

namespace {

// "http://user:secret@proxy:3128" without what stands between the slashes and the @.
std::string without_login(std::string_view url) {
  const std::size_t slashes = url.find("://");
  const std::size_t begin = slashes == std::string_view::npos ? 0 : slashes + 3;
  const std::size_t at = url.substr(0, url.find('/', begin)).rfind('@');
  if (at == std::string_view::npos || at < begin) return std::string(url);
  return std::string(url.substr(0, begin)) + std::string(url.substr(at + 1));
}

void blank(Json& object, std::initializer_list<std::string_view> keys) {
  JsonObject* members = object.if_object();
  if (!members) return;
  for (const std::string_view key : keys) {
    if (Json* value = members->if_contains(key)) *value = "";
  }
}

Json* member(Json* value, std::string_view key) {
  JsonObject* members = value ? value->if_object() : nullptr;
  return members ? members->if_contains(key) : nullptr;
}

template <class Change>
void for_each_item(Json* list, Change change) {
  if (!list || !list->is_array()) return;
  for (Json& item : list->get_array()) change(item);
}

}  // namespace

Result<std::string_view> platform_type(const config::InstallConfig& config) {
  if (config.platform.type == "none" || config.platform.type == "local") return std::string_view("None");
  if (config.platform.type == "external") return std::string_view("External");
  return error(Code::invalid, "platform '{}': manifests for it cannot be made yet; use local, none or external",
               config.platform.type);
}

std::string_view control_plane_topology(const config::InstallConfig& config) {
  return config.control_plane.replicas < 3 ? "SingleReplica" : "HighlyAvailable";
}

std::string_view infrastructure_topology(const config::InstallConfig& config) {
  const int workers = config.compute_replicas();
  return workers == 0 ? control_plane_topology(config) : workers == 1 ? "SingleReplica" : "HighlyAvailable";
}

std::string no_proxy(const config::InstallConfig& config) {
  const std::string given = config.proxy ? config.proxy->no_proxy : "";
  if (trim(given) == "*") return "*";
  std::set<std::string> names = {"127.0.0.1", "localhost", ".svc", ".cluster.local", "api-int." + config.cluster_domain()};
  for (const std::string& cidr : config.networking.service_network) names.insert(cidr);
  for (const std::string& cidr : config.networking.machine_network) names.insert(cidr);
  for (const config::ClusterNetwork& network : config.networking.cluster_network) names.insert(network.cidr);
  for (const std::string_view name : split(given, ',')) {
    if (!trim(name).empty()) names.emplace(trim(name));
  }
  return join({names.begin(), names.end()}, ",");
}

Json public_config(const config::InstallConfig& config) {
  Json shown = config.effective;
  blank(shown, {"pullSecret"});
  if (Json* proxy = member(&shown, "proxy")) {
    for (const std::string_view key : {"httpProxy", "httpsProxy"}) {
      Json* url = member(proxy, key);
      if (url && url->is_string()) *url = without_login(url->get_string());
    }
  }
  Json* platform = member(&shown, "platform");
  for_each_item(member(member(platform, "baremetal"), "hosts"), [](Json& host) {
    if (Json* bmc = member(&host, "bmc")) blank(*bmc, {"username", "password"});
  });
  if (Json* vsphere = member(platform, "vsphere")) {
    blank(*vsphere, {"username", "password"});
    for_each_item(member(vsphere, "vcenters"), [](Json& vcenter) { blank(vcenter, {"user", "password"}); });
  }
  return shown;
}

std::string pull_secret_text(const config::InstallConfig& config) {
  return config.pull_secret.empty() ? R"({"auths":{}})" : config.pull_secret.reveal();
}

}  // namespace slipway::assets
