#include "assets/platform.h"

#include "base/text.h"
#include "config/platforms.h"

#include <algorithm>
#include <set>

namespace slipway::assets {

namespace {

// Metadata services and internal domains of clouds. Machines reach them without a proxy.
void add_cloud_names(const config::InstallConfig& config, std::set<std::string>& names) {
  const std::string& platform = config.platform.type;
  if (config::platform_row(platform).has_metadata_service) names.insert("169.254.169.254");
  if (platform == "gcp") names.insert({"metadata", "metadata.google.internal", "metadata.google.internal."});
  if (platform == "aws") {
    const std::string_view region = find_string(config.platform.section, {"region"}).value_or("");
    names.insert(region == "us-east-1" ? ".ec2.internal" : fmt::format(".{}.compute.internal", region));
  }
}

}  // namespace

Result<std::string_view> platform_type(const config::InstallConfig& config) {
  const config::PlatformRow* row = config::find_platform_row(config.platform.type);
  if (row && !row->api_type.empty()) return row->api_type;
  std::vector<std::string> names;
  for (const config::PlatformRow& each : config::platforms()) {
    if (!each.api_type.empty()) names.emplace_back(each.name);
  }
  return error(Code::invalid, "platform '{}': no manifests can be generated (supported: {})", config.platform.type,
               join(names, ", "));
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
  add_cloud_names(config, names);
  for (const std::string_view name : split(given, ',')) {
    if (!trim(name).empty()) names.emplace(trim(name));
  }
  return join({names.begin(), names.end()}, ",");
}

bool has_machine_api(const config::InstallConfig& config) {
  if (!config.capabilities.is_object() || find_string(config.capabilities, {"baselineCapabilitySet"}) != "None") return true;
  const JsonArray& added = find_array(config.capabilities, {"additionalEnabledCapabilities"});
  return std::ranges::find(added, Json("MachineAPI")) != added.end();
}

bool has_preview_gate(const config::InstallConfig& config, std::string_view gate) {
  if (config.feature_set != "CustomNoUpgrade") return !config.feature_set.empty();
  return std::ranges::any_of(config.feature_gates, [&](const std::string& given) {
    const std::vector<std::string_view> parts = split(given, '=');
    return parts.front() == gate && to_lower(parts.back()) == "true";
  });
}

std::string pull_secret_text(const config::InstallConfig& config) {
  return config.pull_secret.empty() ? R"({"auths":{}})" : config.pull_secret.reveal();
}

}  // namespace slipway::assets
