#include "config/install_config.h"

#include "base/number.h"
#include "base/text.h"
#include "config/document.h"
#include "config/schema/schema.h"
#include "config/upstream_path.h"

namespace slipway::config {

namespace {

MachinePool pool_of(const Json& config, const Json& pool, std::string_view platform) {
  return {.name = text_of(pool, {"name"}),
          .replicas = integer_of(pool, {"replicas"}),
          .hyperthreading = text_of(pool, {"hyperthreading"}) != "Disabled",
          .architecture = text_of(pool, {"architecture"}),
          .platform = effective_pool(config, pool, platform)};
}

Networking networking_of(const Json& section) {
  Networking networking;
  networking.network_type = text_of(section, {"networkType"});
  for (const Json& network : find_array(section, {"machineNetwork"})) {
    networking.machine_network.push_back(text_of(network, {"cidr"}));
  }
  for (const Json& network : find_array(section, {"clusterNetwork"})) {
    networking.cluster_network.push_back({text_of(network, {"cidr"}), integer_of(network, {"hostPrefix"})});
  }
  networking.service_network = texts_of(section, {"serviceNetwork"});
  networking.mtu = integer_of(section, {"clusterNetworkMTU"});
  return networking;
}

std::vector<MirrorSource> mirrors_of(const Json& value, std::string_view list) {
  std::vector<MirrorSource> sources;
  for (const Json& source : find_array(value, {list})) {
    sources.push_back({text_of(source, {"source"}), texts_of(source, {"mirrors"})});
  }
  return sources;
}

Platform platform_of(const Json& effective, const std::string& type) {
  Platform platform;
  platform.type = type;
  platform.section = find_object(effective, {"platform", type});
  if (platform.type == "local") {
    platform.local = LocalPlatform{.api_vip = texts_of(platform.section, {"apiVIPs"}).at(0),
                                   .ingress_vip = texts_of(platform.section, {"ingressVIPs"}).at(0)};
  }
  return platform;
}

InstallConfig config_of(const Document& document) {
  const Json& value = document.value;
  const std::string platform = platform_type(document);
  InstallConfig config;
  config.effective = effective_config(value);
  config.name = text_of(value, {"metadata", "name"});
  config.base_domain = text_of(value, {"baseDomain"});
  // A trailing dot is allowed. It is not part of names in the domain.
  if (config.base_domain.ends_with('.')) config.base_domain.pop_back();
  config.pull_secret = Secret(text_of(value, {"pullSecret"}));
  config.ssh_key = text_of(value, {"sshKey"});
  config.additional_trust_bundle = text_of(value, {"additionalTrustBundle"});
  config.additional_trust_bundle_policy = text_of(value, {"additionalTrustBundlePolicy"});
  config.control_plane = pool_of(value, *find(value, {"controlPlane"}), platform);
  for (const Json& pool : find_array(value, {"compute"})) config.compute.push_back(pool_of(value, pool, platform));
  config.networking = networking_of(*find(value, {"networking"}));
  config.platform = platform_of(config.effective, platform);
  if (const Json* proxy = find(value, {"proxy"})) {
    config.proxy = Proxy{text_of(*proxy, {"httpProxy"}), text_of(*proxy, {"httpsProxy"}), text_of(*proxy, {"noProxy"})};
  }
  config.image_digest_sources = mirrors_of(value, "imageDigestSources");
  config.image_content_sources = mirrors_of(value, "imageContentSources");
  config.publish = text_of(value, {"publish"});
  if (const Json* fips = find(value, {"fips"})) config.fips = *fips == Json(true);
  if (const std::string mode = text_of(value, {"cpuPartitioningMode"}); !mode.empty()) config.cpu_partitioning_mode = mode;
  config.credentials_mode = text_of(value, {"credentialsMode"});
  if (find(value, {"bootstrapInPlace"})) config.bootstrap_in_place = text_of(value, {"bootstrapInPlace", "installationDisk"});
  config.image_mode = find_image_mode(text_of(value, {"imageMode", "policy"})).value_or(ImageMode::none);
  if (const Json* capabilities = find(value, {"capabilities"})) config.capabilities = *capabilities;
  config.feature_set = text_of(value, {"featureSet"});
  config.feature_gates = texts_of(value, {"featureGates"});
  return config;
}

// Hosts that are described in another file. They boot an image by themselves: no provisioning network is needed.
void add_baremetal_hosts(Document& document, const JsonArray& hosts) {
  Json* platform = document.value.as_object().if_contains("platform");
  Json* section = platform && platform->is_object() ? platform->get_object().if_contains("baremetal") : nullptr;
  if (!section || !section->is_object() || !find_array(*section, {"hosts"}).empty()) return;
  section->get_object()["hosts"] = hosts;
  if (!section->get_object().contains("provisioningNetwork")) section->get_object()["provisioningNetwork"] = "Disabled";
}

// Components of the release find out from this field that the only master bootstraps the cluster.
void add_in_place_disk(Document& document, const std::string& disk) {
  const Json* replicas = find(document.value, {"controlPlane", "replicas"});
  if (!replicas || *replicas != Json(1) || find(document.value, {"bootstrapInPlace"})) return;
  document.value.as_object()["bootstrapInPlace"] = Json{{"installationDisk", disk}};
}

// Runs the steps of document.h.
Document checked(const YamlDocument& yaml, std::string_view name, const LoadOptions& options) {
  Document document((std::string(name)));
  document.host = options.host;
  read_fields(yaml, options.strict, install_config_fields(), document);
  convert_older_fields(document);
  if (!options.baremetal_hosts.empty()) add_baremetal_hosts(document, options.baremetal_hosts);
  if (options.in_place_disk) add_in_place_disk(document, *options.in_place_disk);
  fill_in_defaults(document);
  validate_identity(document);
  validate_machines(document);
  validate_networking(document);
  validate_platform(document);
  validate_delivery(document);
  validate_features(document);
  validate_required(document);
  document.findings = with_upstream_paths(document.findings);
  return document;
}

// The names of a field for virtual addresses. The field is a text on kubevirt, and a list on all other platforms.
struct AddressNames {
  std::string_view usual;
  std::string_view of_ovirt;
  std::string_view of_kubevirt;
};

std::vector<std::string> addresses(const Platform& platform, const AddressNames& names) {
  if (platform.type == "ovirt") return texts_of(platform.section, {names.of_ovirt});
  if (platform.type != "kubevirt") return texts_of(platform.section, {names.usual});
  const std::string address = text_of(platform.section, {names.of_kubevirt});
  return address.empty() ? std::vector<std::string>() : std::vector<std::string>{address};
}

}  // namespace

Findings syntax_findings(std::string_view lines, std::string_view name) {
  Findings findings;
  for (std::string_view line : split(lines, '\n')) {
    Place place{std::string(name)};
    if (line.starts_with(fmt::format("{}:", name))) line.remove_prefix(name.size() + 1);
    for (int* number : {&place.line, &place.column}) {
      std::string_view rest = line;
      const std::optional<int> read = take_number<int>(rest);
      if (!read || !rest.starts_with(':')) break;
      *number = *read;
      line = rest.substr(1);
    }
    line = trim(line);
    if (constexpr std::string_view word = "error: "; line.starts_with(word)) line.remove_prefix(word.size());
    findings.error(std::move(place), "", "{}", line);
  }
  return findings;
}

int InstallConfig::compute_replicas() const {
  int replicas = 0;
  for (const MachinePool& pool : compute) replicas += pool.replicas;
  return replicas;
}

Result<LoadedConfig> load_install_config(std::string_view text, std::string_view name, const LoadOptions& options) {
  const Document document = checked(TRY(parse_yaml(text, name)), name, options);
  TRY(document.findings.to_result());
  return LoadedConfig{config_of(document), document.findings};
}

Findings check_install_config(std::string_view text, std::string_view name, const LoadOptions& options) {
  const Result<YamlDocument> yaml = parse_yaml(text, name);
  return yaml.ok() ? checked(yaml.value(), name, options).findings : syntax_findings(yaml.error().message(), name);
}

std::vector<std::string> api_vips(const InstallConfig& config) {
  return addresses(config.platform, {"apiVIPs", "api_vips", "apiVIP"});
}

std::vector<std::string> ingress_vips(const InstallConfig& config) {
  return addresses(config.platform, {"ingressVIPs", "ingress_vips", "ingressVIP"});
}

}  // namespace slipway::config
