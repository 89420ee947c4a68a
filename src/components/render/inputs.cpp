#include "components/render/inputs.h"

#include "base/yaml.h"
#include "components/render/manifest_files.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace slipway::components {

namespace {

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

void collect_paths(sys::Files& files, const std::string& path, std::vector<std::string>& found, Findings& findings) {
  const Result<std::optional<sys::FileInfo>> info = files.info(path);
  if (!info.ok() || !info.value()) {
    findings.error({path}, "", "{}", info.ok() ? "file not found" : info.error().message());
    return;
  }
  if (info.value()->kind != sys::FileKind::directory) {
    found.push_back(path);
    return;
  }
  const Result<std::vector<std::string>> below = files_below(files, path);
  if (!below.ok()) {
    findings.error({path}, "", "{}", below.error().message());
    return;
  }
  for (const std::string& name : below.value()) found.push_back(path + "/" + name);
}

std::optional<net::Cidr> read_cidr(std::string_view text, const Place& place, const std::string& field, Findings& findings) {
  Result<net::Cidr> cidr = net::parse_cidr(text);
  if (cidr.ok()) return std::move(cidr).value();
  findings.error(place, field, "{}", cidr.error().message());
  return std::nullopt;
}

void add_virtual_ips(const Json& platform, const Place& place, std::vector<net::IpAddress>& addresses, Findings& findings) {
  std::vector<std::string_view> names;
  // Older install-configs have one address, newer ones a list. The field names are the same on all platforms.
  for (std::string_view key : {"apiVIP", "ingressVIP", "dnsVIP"}) {
    if (const auto text = find_string(platform, {key}); text && !text->empty()) names.push_back(*text);
  }
  for (std::string_view key : {"apiVIPs", "ingressVIPs"}) {
    for (const Json& item : find_array(platform, {key})) {
      if (item.is_string()) names.emplace_back(item.get_string());
    }
  }
  for (std::string_view name : names) {
    Result<net::IpAddress> address = net::parse_ip(name);
    if (address.ok())
      addresses.push_back(address.value());
    else
      findings.error(place, "platform", "{}", address.error().message());
  }
}

}  // namespace

std::vector<Manifest> load_manifests(sys::Files& files, const std::vector<std::string>& paths, Findings& findings) {
  std::vector<std::string> found;
  for (const std::string& path : paths) collect_paths(files, path, found, findings);

  std::vector<Manifest> manifests;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> seen;
  for (const std::string& path : found) {
    const std::string text = read_input(files, path, findings);
    Result<std::vector<YamlDocument>> documents = parse_yaml_documents(text, path);
    if (!documents.ok()) {
      findings.error({}, "", "{}", documents.error().message());
      continue;
    }
    if (documents->empty()) findings.error({path}, "", "empty, must contain a manifest");
    for (YamlDocument& document : documents.value()) {
      const std::string_view api_version = find_string(document.value, {"apiVersion"}).value_or("");
      const std::string_view kind = find_string(document.value, {"kind"}).value_or("");
      const std::string_view name = find_string(document.value, {"metadata", "name"}).value_or("");
      if (api_version.empty() || kind.empty() || name.empty()) {
        findings.error({path}, "", "{}: missing",
                       api_version.empty() ? "apiVersion"
                       : kind.empty()      ? "kind"
                                           : "metadata.name")
            .hint(kind.ends_with("List") ? "put each object of the list into its own file" : "");
        continue;
      }
      const std::string_view space = find_string(document.value, {"metadata", "namespace"}).value_or("");
      const auto [place, is_new] = seen.try_emplace(
          {std::string(group_of(api_version)), std::string(kind), std::string(space), std::string(name)}, manifests.size());
      if (is_new) {
        manifests.push_back({path, std::move(document.value)});
      } else if (manifests[place->second].object != document.value) {
        findings.error({path}, "", "{} {}: differs from the one in {}", kind, name, manifests[place->second].path);
      }
    }
  }
  return manifests;
}

std::vector<const Manifest*> of_kind(const std::vector<Manifest>& manifests, std::string_view group, std::string_view kind) {
  std::vector<const Manifest*> found;
  for (const Manifest& manifest : manifests) {
    if (find_string(manifest.object, {"kind"}) == kind && group_of(*find_string(manifest.object, {"apiVersion"})) == group) {
      found.push_back(&manifest);
    }
  }
  return found;
}

bool FeatureGates::is_enabled(std::string_view name) const { return std::ranges::find(enabled, name) != enabled.end(); }

std::vector<std::string> FeatureGates::settings() const {
  std::vector<std::string> all;
  for (const std::string& name : enabled) all.push_back(name + "=true");
  for (const std::string& name : disabled) all.push_back(name + "=false");
  return all;
}

FeatureGates feature_gates(const std::vector<Manifest>& manifests, std::string_view payload_version, Findings& findings) {
  FeatureGates gates;
  const std::vector<const Manifest*> objects = of_kind(manifests, "config.openshift.io", "FeatureGate");
  if (objects.empty()) {
    findings.error({}, "FeatureGate", "not found in the rendered manifests").hint("config-api renders 99_feature-gate.yaml");
    return gates;
  }
  const Json* status = find(objects.front()->object, {"status", "featureGates"});
  for (const Manifest* other : objects) {
    const Json* others = find(other->object, {"status", "featureGates"});
    if ((status == nullptr) != (others == nullptr) || (status != nullptr && *status != *others)) {
      findings.error({other->path}, "status.featureGates", "differs from that of {}", objects.front()->path);
    }
  }
  for (const Json& entry : find_array(objects.front()->object, {"status", "featureGates"})) {
    if (find_string(entry, {"version"}) != payload_version) continue;
    for (const Json& gate : find_array(entry, {"enabled"})) gates.enabled.emplace_back(find_string(gate, {"name"}).value_or(""));
    for (const Json& gate : find_array(entry, {"disabled"}))
      gates.disabled.emplace_back(find_string(gate, {"name"}).value_or(""));
    return gates;
  }
  findings.error({objects.front()->path}, "status.featureGates", "has no entry for version '{}'", payload_version);
  return gates;
}

std::string read_input(sys::Files& files, const std::string& path, Findings& findings) {
  Result<std::string> text = files.read(path);
  if (text.ok()) return std::move(text).value();
  findings.error({path}, "", "{}", text.error().message());
  return {};
}

Json read_document(sys::Files& files, const std::string& path, Findings& findings) {
  Result<std::string> text = files.read(path);
  if (!text.ok()) {
    findings.error({path}, "", "{}", text.error().message());
    return nullptr;
  }
  Result<YamlDocument> document = parse_yaml(text.value(), path);
  if (!document.ok()) {
    findings.error({}, "", "{}", document.error().message());
    return nullptr;
  }
  if (!document->value.is_object()) findings.error({path}, "", "must be an object, got {}", kind_name(document->value));
  return std::move(document->value);
}

Result<Json> read_yaml(sys::Files& files, const std::string& path) {
  const std::string text = TRY(files.read(path));
  return TRY(parse_yaml(text, path)).value;
}

std::vector<std::string> Network::cluster_cidrs() const {
  std::vector<std::string> all;
  for (const ClusterNetwork& network : cluster) all.push_back(to_string(network.cidr));
  return all;
}

std::vector<std::string> Network::service_cidrs() const {
  std::vector<std::string> all;
  for (const net::Cidr& network : service) all.push_back(to_string(network));
  return all;
}

Network parse_network(const Json& object, const std::string& file, Findings& findings) {
  Network network{.type = text_of(object, {"spec", "networkType"}), .cluster = {}, .service = {}};
  for (const Json& entry : find_array(object, {"spec", "clusterNetwork"})) {
    const std::string_view text = find_string(entry, {"cidr"}).value_or("");
    const auto cidr = read_cidr(text, {file}, "spec.clusterNetwork", findings);
    if (!cidr) continue;
    const int host_prefix = integer_of(entry, {"hostPrefix"});
    if (host_prefix != 0 && (host_prefix < cidr->prefix || host_prefix > cidr->bits())) {
      findings.error({file}, "spec.clusterNetwork", "hostPrefix {} does not fit {}", host_prefix, text);
    }
    network.cluster.push_back({*cidr, host_prefix});
  }
  for (const Json& entry : find_array(object, {"spec", "serviceNetwork"})) {
    if (!entry.is_string()) continue;
    if (const auto cidr = read_cidr(entry.get_string(), {file}, "spec.serviceNetwork", findings))
      network.service.push_back(*cidr);
  }
  if (network.cluster.empty() && object.is_object())
    findings.error({file}, "spec.clusterNetwork", "must have at least one entry");
  if (network.service.empty() && object.is_object())
    findings.error({file}, "spec.serviceNetwork", "must have at least one entry");
  return network;
}

Infrastructure parse_infrastructure(const Json& object, const std::string& file, Findings& findings) {
  Infrastructure infrastructure;
  infrastructure.platform = find_string(object, {"status", "platformStatus", "type"}).value_or("");
  infrastructure.ibm_cloud_provider = find_string(object, {"status", "platformStatus", "ibmcloud", "providerType"}).value_or("");
  infrastructure.single_replica = find_string(object, {"status", "controlPlaneTopology"}) == "SingleReplica";
  if (infrastructure.platform.empty() && object.is_object()) findings.error({file}, "status.platformStatus.type", "missing");
  return infrastructure;
}

InstallConfig parse_install_config(const Json& config_map, const std::string& file, Findings& findings) {
  InstallConfig config;
  if (!config_map.is_object()) return config;
  const auto text = find_string(config_map, {"data", "install-config"});
  if (!text) {
    findings.error({file}, "data.install-config", "missing");
    return config;
  }
  const Result<YamlDocument> document = parse_yaml(*text, file + ": install-config");
  if (!document.ok()) {
    findings.error({}, "", "{}", document.error().message());
    return config;
  }
  const Json& value = document->value;
  const Place place{file + ": install-config"};
  config.control_plane_replicas = integer_of(value, {"controlPlane", "replicas"});
  if (config.control_plane_replicas < 1) findings.error(place, "controlPlane.replicas", "must be greater than 0");
  config.arbiter_replicas = integer_of(value, {"arbiter", "replicas"});
  config.bootstrap_in_place = find(value, {"bootstrapInPlace"}) != nullptr;
  std::vector<std::string_view> networks;
  for (const Json& entry : find_array(value, {"networking", "machineNetwork"})) {
    networks.push_back(find_string(entry, {"cidr"}).value_or(""));
  }
  if (networks.empty()) {
    if (const auto old = find_string(value, {"networking", "machineCIDR"})) networks.push_back(*old);
  }
  for (std::string_view network : networks) {
    if (const auto cidr = read_cidr(network, place, "networking.machineNetwork", findings))
      config.machine_networks.push_back(*cidr);
  }
  for (const auto& member : find_object(value, {"platform"}))
    add_virtual_ips(member.value(), place, config.virtual_ips, findings);
  for (const Json& gate : find_array(value, {"featureGates"})) {
    if (gate.is_string()) config.feature_gates.emplace_back(gate.get_string());
  }
  return config;
}

net::Certificate read_pair(sys::Files& files, const std::string& folder, std::string_view name, Findings& findings) {
  const std::string stem = fmt::format("{}/{}", folder, name);
  net::Certificate pair;
  Result<std::string> pem = files.read(stem + ".crt");
  Result<std::string> key = files.read(stem + ".key");
  if (!pem.ok()) findings.error({stem + ".crt"}, "", "{}", pem.error().message());
  if (!key.ok()) findings.error({stem + ".key"}, "", "{}", key.error().message());
  if (!pem.ok() || !key.ok()) return pair;
  pair = {std::move(pem).value(), Secret(std::move(key).value())};
  const Result<bool> fits = net::key_fits(pair.pem, pair.key);
  if (!fits.ok()) {
    findings.error({stem + ".crt"}, "", "{}", fits.error().message());
  } else if (!fits.value()) {
    findings.error({stem + ".key"}, "", "not the key of {}.crt", name);
  }
  return pair;
}

}  // namespace slipway::components
