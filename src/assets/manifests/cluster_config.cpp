#include "assets/manifests/cluster_config.h"

#include "assets/manifest_file.h"
#include "assets/platform.h"
#include "base/sorted_keys.h"
#include "base/yaml.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

// Names of credentials anywhere in a platform section: of BMCs, of vCenters, of networks (802.1X in nmstate).
constexpr auto secret_names = std::to_array<std::string_view>({"username", "user", "password", "private-key-password"});

// "http://user:secret@proxy:3128" without "user:secret@".
std::string without_login(std::string_view url) {
  const std::size_t slashes = url.find("://");
  const std::size_t begin = slashes == std::string_view::npos ? 0 : slashes + 3;
  const std::size_t at = url.substr(0, url.find('/', begin)).rfind('@');
  if (at == std::string_view::npos || at < begin) return std::string(url);
  return std::string(url.substr(0, begin)) + std::string(url.substr(at + 1));
}

Json* member(Json* value, std::string_view key) {
  JsonObject* members = value ? value->if_object() : nullptr;
  return members ? members->if_contains(key) : nullptr;
}

void hide_login(Json* url) {
  if (url && url->is_string()) *url = without_login(url->get_string());
}

void blank_secrets(Json& value) {
  if (JsonArray* list = value.if_array()) std::ranges::for_each(*list, blank_secrets);
  JsonObject* members = value.if_object();
  if (!members) return;
  for (auto& each : *members) {
    const bool is_secret = std::ranges::find(secret_names, std::string_view(each.key())) != secret_names.end();
    if (is_secret && each.value().is_string()) {
      each.value() = "";
    } else {
      blank_secrets(each.value());
    }
  }
}

void shape_host(Json& host, bool has_machines) {
  if (Json* network = member(&host, "networkConfig"); network && network->is_string()) {
    // Parse the text, so that blank_secrets() finds credentials in it.
    const Result<YamlDocument> read = parse_yaml(network->get_string(), "networkConfig");
    *network = read.ok() ? read->value : Json("");
  }
  // If a BareMetalHost is generated, the default profile has the same name here as there.
  Json* profile = member(&host, "hardwareProfile");
  if (has_machines && profile && *profile == Json("default")) *profile = "unknown";
  hide_login(member(member(&host, "bmc"), "address"));
}

}  // namespace

Json public_config(const config::InstallConfig& config) {
  Json shown = config.effective;
  if (Json* pull_secret = member(&shown, "pullSecret")) *pull_secret = "";
  for (const std::string_view key : {"httpProxy", "httpsProxy"}) hide_login(member(member(&shown, "proxy"), key));
  Json* platform = member(&shown, "platform");
  if (Json* vsphere = member(platform, "vsphere"); vsphere && vsphere->is_object()) {
    for (const std::string_view key : {"username", "password", "hosts"}) vsphere->get_object().erase(key);
  }
  if (Json* hosts = member(member(platform, "baremetal"), "hosts"); hosts && hosts->is_array()) {
    for (Json& host : hosts->get_array()) shape_host(host, has_machine_api(config));
  }
  if (platform) blank_secrets(*platform);
  return shown;
}

Json cluster_config(const config::InstallConfig& config, const Environment& environment) {
  Json shown = public_config(config);
  if (environment.fips_check_bypassed) {
    JsonObject& metadata = shown.as_object()["metadata"].as_object();
    if (Json& annotations = metadata["annotations"]; !annotations.is_object()) annotations = JsonObject();
    metadata["annotations"].get_object()["install.openshift.io/hostcrypt-check-bypassed"] = "true";
  }
  JsonObject object = config_map("kube-system", "cluster-config-v1", {{"install-config", emit_yaml(sorted_keys(shown))}});
  object["metadata"].get_object()["annotations"] = {
      {"kubernetes.io/description", "What the cluster was installed from. Changing it here changes nothing in the cluster."}};
  return object;
}

}  // namespace slipway::assets
