#include "assets/manifests/infrastructure.h"

#include "assets/machines/vsphere_topology.h"
#include "assets/manifest_file.h"
#include "assets/manifests/cloud_provider_config.h"
#include "assets/platform.h"

#include <algorithm>

namespace slipway::assets {

namespace {

using config::InstallConfig;

// The members of platformSpec and platformStatus that have the platform's name.
struct Description {
  JsonObject spec{};
  JsonObject status{};
};

void put_text(JsonObject& object, std::string_view key, std::string text) {
  if (!text.empty()) object[key] = std::move(text);
}

// [{key, value}] of an object, sorted by key: the form of tags and labels.
JsonArray pairs(const JsonObject& members) {
  std::map<std::string, Json> sorted;
  for (const auto& member : members) sorted.emplace(member.key(), member.value());
  JsonArray list;
  for (const auto& [key, value] : sorted) list.push_back({{"key", key}, {"value", value}});
  return list;
}

// Spec and status contain the same addresses.
Description virtual_addresses(const InstallConfig& config) {
  const std::vector<std::string> api = config::api_vips(config), ingress = config::ingress_vips(config);
  const JsonArray machine_networks = array_of(config.networking.machine_network);
  Description made;
  made.spec = {{"apiServerInternalIPs", array_of(api)}, {"ingressIPs", array_of(ingress)}, {"machineNetworks", machine_networks}};
  made.status = {{"machineNetworks", machine_networks}};
  if (!api.empty()) {
    made.status["apiServerInternalIP"] = api.front();
    made.status["apiServerInternalIPs"] = array_of(api);
  }
  if (!ingress.empty()) {
    made.status["ingressIP"] = ingress.front();
    made.status["ingressIPs"] = array_of(ingress);
  }
  if (const Json* balancer = find(config.platform.section, {"loadBalancer"})) made.status["loadBalancer"] = *balancer;
  return made;
}

Description describe_aws(const InstallConfig& config, const ClusterId&) {
  const Json& section = config.platform.section;
  Description made;
  put_text(made.status, "region", text_of(section, {"region"}));
  JsonArray endpoints = find_array(section, {"serviceEndpoints"});
  std::ranges::sort(endpoints, {}, [](const Json& each) { return text_of(each, {"name"}); });
  if (!endpoints.empty()) made.spec["serviceEndpoints"] = made.status["serviceEndpoints"] = endpoints;
  const Json* propagates = find(section, {"propagateUserTags"});
  const JsonObject& tags = find_object(section, {"userTags"});
  if (propagates && *propagates == Json(true) && !tags.empty()) made.status["resourceTags"] = pairs(tags);
  return made;
}

Description describe_gcp(const InstallConfig& config, const ClusterId&) {
  const Json& section = config.platform.section;
  Description made;
  put_text(made.status, "projectID", text_of(section, {"projectID"}));
  put_text(made.status, "region", text_of(section, {"region"}));
  const std::pair<std::string_view, std::string_view> lists[] = {{"userLabels", "resourceLabels"}, {"userTags", "resourceTags"}};
  for (const auto& [given, shown] : lists) {
    if (const JsonArray& list = find_array(section, {given}); !list.empty()) made.status[shown] = list;
  }
  return made;
}

Description describe_external(const InstallConfig& config, const ClusterId&) {
  const bool manager = text_of(config.platform.section, {"cloudControllerManager"}) == "External";
  Description made;
  put_text(made.spec, "platformName", text_of(config.platform.section, {"platformName"}));
  made.status["cloudControllerManager"] = {{"state", manager ? "External" : "None"}};
  return made;
}

Description describe_ovirt(const InstallConfig& config, const ClusterId&) {
  Description made = virtual_addresses(config);
  made.spec.clear();
  made.status.erase("machineNetworks");
  return made;
}

Description describe_kubevirt(const InstallConfig& config, const ClusterId&) {
  Description made;
  const Description addresses = virtual_addresses(config);
  for (const std::string_view key : {"apiServerInternalIP", "ingressIP"}) {
    put_text(made.status, key, text_of(addresses.status, {key}));
  }
  return made;
}

Description describe_baremetal(const InstallConfig& config, const ClusterId&) { return virtual_addresses(config); }
Description describe_openstack(const InstallConfig& config, const ClusterId&) { return virtual_addresses(config); }

Json failure_domain(const FailureDomain& domain, const ClusterId& id) {
  JsonObject topology = {
      {"computeCluster", domain.compute_cluster},
      {"datacenter", domain.datacenter},
      {"datastore", domain.datastore},
      {"networks", array_of(domain.networks)},
      {"resourcePool", domain.resource_pool},
      {"template", domain.template_path.empty() ? fmt::format("/{}/vm/{}", domain.datacenter, template_name(domain, id))
                                                : domain.template_path}};
  put_text(topology, "folder", domain.folder);
  return {{"name", domain.name},
          {"region", domain.region},
          {"server", domain.server},
          {"topology", std::move(topology)},
          {"zone", domain.zone}};
}

Description describe_vsphere(const InstallConfig& config, const ClusterId& id) {
  Description made = virtual_addresses(config);
  JsonArray domains, vcenters;
  for (const FailureDomain& domain : failure_domains(config)) domains.push_back(failure_domain(domain, id));
  for (const Json& each : find_array(config.platform.section, {"vcenters"})) {
    JsonObject vcenter = {{"server", text_of(each, {"server"})}, {"datacenters", find_array(each, {"datacenters"})}};
    if (const Json* port = find(each, {"port"}); port && *port != Json(0)) vcenter["port"] = *port;
    vcenters.push_back(std::move(vcenter));
  }
  made.spec["failureDomains"] = std::move(domains);
  made.spec["nodeNetworking"] = {{"external", JsonObject()}, {"internal", JsonObject()}};
  made.spec["vcenters"] = std::move(vcenters);
  return made;
}

// Platforms that have members in platformSpec and platformStatus.
struct Row {
  std::string_view platform;
  Description (*describe)(const InstallConfig&, const ClusterId&);
};
constexpr Row rows[] = {{"aws", describe_aws},     {"baremetal", describe_baremetal}, {"external", describe_external},
                        {"gcp", describe_gcp},     {"kubevirt", describe_kubevirt},   {"openstack", describe_openstack},
                        {"ovirt", describe_ovirt}, {"vsphere", describe_vsphere}};

}  // namespace

Result<Json> infrastructure(const InstallConfig& config, const ClusterId& id) {
  const std::string_view type = TRY(platform_type(config));
  JsonObject platform_spec = {{"type", type}};
  JsonObject platform_status = {{"type", type}};
  const Row* row = std::ranges::find(rows, config.platform.type, &Row::platform);
  if (row != std::end(rows)) {
    Description made = row->describe(config, id);
    platform_spec[row->platform] = std::move(made.spec);
    platform_status[row->platform] = std::move(made.status);
  }
  JsonObject object = object_of("config.openshift.io/v1", "Infrastructure", "", "cluster");
  JsonObject cloud_config = {{"name", ""}};
  if (has_cloud_provider_config(config))
    cloud_config = {{"name", cloud_provider_config_name}, {"key", cloud_provider_config_key}};
  object["spec"] = {{"cloudConfig", std::move(cloud_config)}, {"platformSpec", std::move(platform_spec)}};
  object["status"] = {{"infrastructureName", id.infra_id},
                      {"apiServerURL", fmt::format("https://api.{}:6443", config.cluster_domain())},
                      {"apiServerInternalURI", fmt::format("https://api-int.{}:6443", config.cluster_domain())},
                      {"etcdDiscoveryDomain", ""},
                      {"controlPlaneTopology", control_plane_topology(config)},
                      {"infrastructureTopology", infrastructure_topology(config)},
                      {"cpuPartitioning", config.cpu_partitioning_mode},
                      {"platform", type},
                      {"platformStatus", std::move(platform_status)}};
  return Json(std::move(object));
}

}  // namespace slipway::assets
