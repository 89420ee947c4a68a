#include "assets/machines/machines_openstack.h"

#include "assets/machines/machine_objects.h"
#include "assets/platform.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::assets {

namespace {

using config::InstallConfig;
using config::MachinePool;

// Values that machines of a pool do not have in common.
struct FailureDomain {
  std::string zone{};
  std::string volume_zone{};
  std::string volume_type{};

  bool empty() const { return zone.empty() && volume_zone.empty() && volume_type.empty(); }
};

// One value counts for all.
std::string value_at(const std::vector<std::string>& values, std::size_t i) {
  if (values.empty()) return "";
  return values.size() == 1 ? values.front() : values[i % values.size()];
}

// One pool's machines.
class Pool {
 public:
  Pool(const InstallConfig& config, const ClusterId& id, const MachinePool& pool, std::string_view role)
      : section_(config.platform.section), id_(id.infra_id), settings_(pool.platform), role_(role) {}

  bool has_volume() const { return find(settings_, {"rootVolume"}) != nullptr; }

  std::vector<FailureDomain> domains() const {
    const std::vector<std::string> zones = texts_of(settings_, {"zones"});
    const std::vector<std::string> volume_zones = texts_of(settings_, {"rootVolume", "zones"});
    const std::vector<std::string> types = texts_of(settings_, {"rootVolume", "types"});
    const std::size_t count = std::max({zones.size(), volume_zones.size(), types.size(), std::size_t{1}});
    std::vector<FailureDomain> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back({value_at(zones, i), value_at(volume_zones, i), value_at(types, i)});
    return made;
  }

  // The provider spec of a machine. Without a domain, the fields that a ControlPlaneMachineSet fills in are left out.
  JsonObject provider(const FailureDomain& domain) const {
    std::string group = fmt::format("{}-{}", id_, role_);
    // A server group for each zone, so that administrators can set a policy for each.
    if (role_ == "worker" && !domain.zone.empty()) group += "-" + domain.zone;
    JsonObject made = {{"apiVersion", "machine.openshift.io/v1alpha1"},
                       {"cloudName", "openstack"},
                       {"cloudsSecret", {{"name", "openstack-cloud-credentials"}, {"namespace", machine_namespace}}},
                       {"flavor", text_of(settings_, {"type"})},
                       {"kind", "OpenstackProviderSpec"},
                       {"metadata", JsonObject()},
                       {"networks", networks()},
                       {"securityGroups", security_groups()},
                       {"serverGroupName", group},
                       {"serverMetadata", {{"Name", fmt::format("{}-{}", id_, role_)}, {"openshiftClusterID", id_}}},
                       {"tags", JsonArray{Json(cluster_tag())}},
                       {"userDataSecret", {{"name", fmt::format("{}-user-data", role_)}}}};
    if (!domain.zone.empty()) made["availabilityZone"] = domain.zone;
    const JsonArray& addresses = find_array(section_, {"controlPlanePort", "fixedIPs"});
    if (!addresses.empty()) {
      if (std::string subnet = text_of(addresses.front(), {"subnet", "id"}); !subnet.empty())
        made["primarySubnet"] = std::move(subnet);
    }
    if (has_volume()) {
      made["rootVolume"] = volume(domain);
    } else {
      made["image"] = image();
    }
    return made;
  }

 private:
  std::string cluster_tag() const { return fmt::format("openshiftClusterID={}", id_); }

  // openshift-install names an image like this if it uploads one.
  std::string image() const {
    const std::string given = text_of(section_, {"clusterOSImage"});
    return given.empty() || given.find("://") != std::string::npos ? id_ + "-rhcos" : given;
  }

  JsonObject volume(const FailureDomain& domain) const {
    JsonObject made = {{"diskSize", integer_of(settings_, {"rootVolume", "size"})}, {"sourceUUID", image()}};
    if (!domain.volume_type.empty()) made["volumeType"] = domain.volume_type;
    if (!domain.volume_zone.empty()) made["availabilityZone"] = domain.volume_zone;
    return made;
  }

  JsonArray networks() const {
    JsonArray subnets;
    JsonObject filter;
    for (const Json& each : find_array(section_, {"controlPlanePort", "fixedIPs"})) {
      subnets.push_back(JsonObject{{"filter", find_object(each, {"subnet"})}});
    }
    if (subnets.empty()) {
      subnets.push_back(JsonObject{{"filter", {{"name", id_ + "-nodes"}, {"tags", cluster_tag()}}}});
    } else {
      filter = find_object(section_, {"controlPlanePort", "network"});
    }
    JsonArray made;
    made.push_back(JsonObject{{"filter", std::move(filter)}, {"subnets", std::move(subnets)}});
    for (const std::string& network : texts_of(settings_, {"additionalNetworkIDs"})) {
      made.push_back(JsonObject{{"filter", JsonObject()}, {"noAllowedAddressPairs", true}, {"uuid", network}});
    }
    return made;
  }

  JsonArray security_groups() const {
    JsonArray made;
    made.push_back(JsonObject{{"filter", JsonObject()}, {"name", fmt::format("{}-{}", id_, role_)}});
    for (const std::string& group : texts_of(settings_, {"additionalSecurityGroupIDs"})) {
      made.push_back(JsonObject{{"filter", JsonObject()}, {"uuid", group}});
    }
    return made;
  }

  const Json& section_;
  const std::string& id_;
  const Json& settings_;
  std::string_view role_;
};

// Empty if the machines have everything in common: one empty domain is not valid.
JsonObject failure_domains_of(const Pool& pool) {
  const std::vector<FailureDomain> domains = pool.domains();
  if (domains.size() == 1 && domains.front().empty()) return {};
  JsonArray made;
  for (const FailureDomain& domain : domains) {
    JsonObject each;
    if (!domain.zone.empty()) each["availabilityZone"] = domain.zone;
    if (pool.has_volume()) {
      JsonObject volume = {{"volumeType", domain.volume_type}};
      if (!domain.volume_zone.empty()) volume["availabilityZone"] = domain.volume_zone;
      each["rootVolume"] = std::move(volume);
    }
    made.push_back(std::move(each));
  }
  return {{"openstack", std::move(made)}, {"platform", "OpenStack"}};
}

}  // namespace

AssetFiles openstack_machines(const InstallConfig& config, const ClusterId& id) {
  AssetFiles files;
  if (!has_machine_api(config)) return files;
  const Pool masters(config, id, config.control_plane, "master");
  const int replicas = config.control_plane.replicas;
  const std::vector<FailureDomain> domains = masters.domains();
  JsonArray machines;
  for (std::size_t i = 0; i < static_cast<std::size_t>(replicas); ++i) {
    machines.push_back(machine(id, "master", machine_name(id, "master", i), masters.provider(domains[i % domains.size()])));
  }
  put_numbered(files, "master-machines", machines);
  if (replicas > 1) files.push_back(control_plane_machine_set(id, replicas, failure_domains_of(masters), masters.provider({})));
  for (const MachinePool& each : config.compute) {
    if (each.name != "worker" || each.replicas == 0) continue;
    const Pool workers(config, id, each, "worker");
    const std::vector<FailureDomain> of_workers = workers.domains();
    const int count = static_cast<int>(of_workers.size());
    JsonArray sets;
    for (int i = 0; i < count; ++i) {
      const auto number = static_cast<std::size_t>(i);
      const int share = each.replicas / count + (i < each.replicas % count ? 1 : 0);
      sets.push_back(machine_set(id, "worker", machine_name(id, "worker", number), role_labels(id, "worker"), share,
                                 workers.provider(of_workers[number])));
    }
    put_numbered(files, "worker-machineset", sets);
  }
  return files;
}

}  // namespace slipway::assets
