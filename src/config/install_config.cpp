#include "config/install_config.h"

#include "base/sorted_keys.h"
#include "config/document.h"

#include <algorithm>
#include <array>

namespace slipway::config {

namespace {

std::string text_of(const Json& value, std::initializer_list<std::string_view> keys) {
  return std::string(find_string(value, keys).value_or(""));
}

int number_of(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* found = find(value, keys);
  return found && found->is_int64() ? static_cast<int>(found->get_int64()) : 0;
}

std::vector<std::string> texts_of(const Json& value, std::initializer_list<std::string_view> keys) {
  std::vector<std::string> texts;
  for (const Json& item : find_array(value, keys)) texts.push_back(text_of(item, {}));
  return texts;
}

// As Go writes the structs: empty optional fields are left out, these are always there.
Json effective_config(const Json& value) {
  static constexpr std::array<std::string_view, 3> always = {"baseDomain", "metadata", "pullSecret"};
  JsonObject kept;
  for (const auto& member : value.as_object()) {
    const Json& field = member.value();
    const bool empty = (field.is_string() && field.get_string().empty()) || field == Json(false) ||
                       (field.is_array() && field.get_array().empty());
    if (!empty || std::ranges::find(always, std::string_view(member.key())) != always.end()) kept[member.key()] = field;
  }
  kept["metadata"].as_object()["creationTimestamp"] = nullptr;
  return sorted_keys(kept);
}

MachinePool pool_of(const Json& pool) {
  return {.name = text_of(pool, {"name"}),
          .replicas = number_of(pool, {"replicas"}),
          .hyperthreading = text_of(pool, {"hyperthreading"}) != "Disabled",
          .architecture = text_of(pool, {"architecture"}),
          .platform = find_object(pool, {"platform"})};
}

Networking networking_of(const Json& section) {
  Networking networking;
  networking.network_type = text_of(section, {"networkType"});
  for (const Json& network : find_array(section, {"machineNetwork"})) {
    networking.machine_network.push_back(text_of(network, {"cidr"}));
  }
  for (const Json& network : find_array(section, {"clusterNetwork"})) {
    networking.cluster_network.push_back({text_of(network, {"cidr"}), number_of(network, {"hostPrefix"})});
  }
  networking.service_network = texts_of(section, {"serviceNetwork"});
  networking.mtu = number_of(section, {"clusterNetworkMTU"});
  return networking;
}

std::vector<MirrorSource> mirrors_of(const Json& value, std::string_view list) {
  std::vector<MirrorSource> sources;
  for (const Json& source : find_array(value, {list})) {
    sources.push_back({text_of(source, {"source"}), texts_of(source, {"mirrors"})});
  }
  return sources;
}

Platform platform_of(const Document& document) {
  Platform platform;
  platform.type = platform_type(document);
  platform.section = find_object(document.value, {"platform", platform.type});
  if (platform.type == "local") {
    platform.local = LocalPlatform{.api_vip = texts_of(platform.section, {"apiVIPs"}).at(0),
                                   .ingress_vip = texts_of(platform.section, {"ingressVIPs"}).at(0)};
  }
  return platform;
}

InstallConfig config_of(const Document& document) {
  const Json& value = document.value;
  InstallConfig config;
  config.name = text_of(value, {"metadata", "name"});
  config.base_domain = text_of(value, {"baseDomain"});
  // QUIRK(installer 2.4): one dot at the end is fine and is not part of any name that is made of it.
  if (config.base_domain.ends_with('.')) config.base_domain.pop_back();
  config.pull_secret = Secret(text_of(value, {"pullSecret"}));
  config.ssh_key = text_of(value, {"sshKey"});
  config.additional_trust_bundle = text_of(value, {"additionalTrustBundle"});
  config.additional_trust_bundle_policy = text_of(value, {"additionalTrustBundlePolicy"});
  config.control_plane = pool_of(*find(value, {"controlPlane"}));
  for (const Json& pool : find_array(value, {"compute"})) config.compute.push_back(pool_of(pool));
  config.networking = networking_of(*find(value, {"networking"}));
  config.platform = platform_of(document);
  if (const Json* proxy = find(value, {"proxy"})) {
    config.proxy = Proxy{text_of(*proxy, {"httpProxy"}), text_of(*proxy, {"httpsProxy"}), text_of(*proxy, {"noProxy"})};
  }
  config.image_digest_sources = mirrors_of(value, "imageDigestSources");
  config.image_content_sources = mirrors_of(value, "imageContentSources");
  config.publish = text_of(value, {"publish"});
  if (const std::string mode = text_of(value, {"cpuPartitioningMode"}); !mode.empty()) config.cpu_partitioning_mode = mode;
  config.credentials_mode = text_of(value, {"credentialsMode"});
  if (find(value, {"bootstrapInPlace"})) config.bootstrap_in_place = text_of(value, {"bootstrapInPlace", "installationDisk"});
  if (const Json* capabilities = find(value, {"capabilities"})) config.capabilities = *capabilities;
  config.feature_set = text_of(value, {"featureSet"});
  config.feature_gates = texts_of(value, {"featureGates"});
  config.effective = effective_config(value);
  return config;
}

}  // namespace

int InstallConfig::compute_replicas() const {
  int replicas = 0;
  for (const MachinePool& pool : compute) replicas += pool.replicas;
  return replicas;
}

Result<Loaded> load_install_config(std::string_view text, std::string_view name) {
  const YamlDocument yaml = TRY(parse_yaml(text, name));
  Document document((std::string(name)));
  read_fields(yaml, document);
  convert_older_fields(document);
  fill_in_defaults(document);
  validate_identity(document);
  validate_machines(document);
  validate_networking(document);
  validate_platform(document);
  validate_delivery(document);
  validate_features(document);
  TRY(document.findings.to_result());
  return Loaded{config_of(document), document.findings};
}

std::vector<std::string> api_vips(const InstallConfig& config) {
  if (!config.platform.local) return {};
  return {config.platform.local->api_vip};
}

std::vector<std::string> ingress_vips(const InstallConfig& config) {
  if (!config.platform.local) return {};
  return {config.platform.local->ingress_vip};
}

}  // namespace slipway::config
