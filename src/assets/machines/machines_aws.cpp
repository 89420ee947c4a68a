#include "assets/machines/machines_aws.h"

#include "assets/machines/machine_objects.h"
#include "assets/platform.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::assets {

namespace {

using config::InstallConfig;
using config::MachinePool;

const MachinePool& pool_of(const InstallConfig& config, std::string_view role) {
  return role == "worker" && !config.compute.empty() ? config.compute.front() : config.control_plane;
}

// A reference to an object of AWS by a tag.
JsonObject tagged(std::string_view tag, std::string_view value) {
  JsonArray filters;
  filters.push_back(JsonObject{{"name", fmt::format("tag:{}", tag)}, {"values", JsonArray{Json(value)}}});
  return {{"filters", std::move(filters)}};
}

// One pool's machines.
class Pool {
 public:
  Pool(const InstallConfig& config, const ClusterId& id, const MachinePool& pool, std::string_view role)
      : config_(config), id_(id.infra_id), pool_(pool), role_(role), region_(text_of(config.platform.section, {"region"})) {}

  std::vector<std::string> zones() const {
    std::vector<std::string> given = texts_of(pool_.platform, {"zones"});
    if (given.empty()) given = {region_ + "a", region_ + "b", region_ + "c"};
    return given;
  }

  JsonObject subnet(const std::string& zone) const { return tagged("Name", fmt::format("{}-subnet-private-{}", id_, zone)); }

  // The provider spec of a machine. Without a zone, the fields that a ControlPlaneMachineSet fills in are left out.
  JsonObject provider(const std::string& zone) const {
    const Json& given = pool_.platform;
    JsonObject made = {{"ami", image()},
                       {"apiVersion", machine_api},
                       {"blockDevices", JsonArray{JsonObject{{"ebs", volume()}}}},
                       {"credentialsSecret", {{"name", "aws-cloud-credentials"}}},
                       {"deviceIndex", 0},
                       {"iamInstanceProfile", {{"id", profile()}}},
                       {"instanceType", aws_instance_type(config_, role_)},
                       {"kind", "AWSMachineProviderConfig"},
                       {"metadata", JsonObject()},
                       {"metadataServiceOptions", JsonObject()},
                       {"placement", {{"region", region_}}},
                       {"securityGroups", security_groups()},
                       {"subnet", JsonObject()},
                       {"tags", tags()},
                       {"userDataSecret", {{"name", fmt::format("{}-user-data", role_)}}}};
    if (const std::string token = text_of(given, {"metadataService", "authentication"}); !token.empty()) {
      made["metadataServiceOptions"] = {{"authentication", token}};
    }
    if (role_ == "master") made["loadBalancers"] = balancers();
    if (zone.empty()) return made;
    made["placement"] = {{"availabilityZone", zone}, {"region", region_}};
    made["subnet"] = subnet(zone);
    return made;
  }

 private:
  // Without amiID, the image that slipway imports: it has the tag of each cluster that uses it.
  JsonObject image() const {
    if (const std::string id = text_of(pool_.platform, {"amiID"}); !id.empty()) return {{"id", id}};
    return tagged(fmt::format("kubernetes.io/cluster/{}", id_), "shared");
  }

  JsonObject volume() const {
    const JsonObject& given = find_object(pool_.platform, {"rootVolume"});
    return {{"encrypted", true},
            {"iops", integer_of(given, {"iops"})},
            {"kmsKey", {{"arn", text_of(given, {"kmsKeyARN"})}}},
            {"volumeSize", integer_of(given, {"size"})},
            {"volumeType", text_of(given, {"type"})}};
  }

  std::string profile() const {
    const std::string given = text_of(pool_.platform, {"iamProfile"});
    return given.empty() ? fmt::format("{}-{}-profile", id_, role_) : given;
  }

  JsonArray security_groups() const {
    JsonArray groups;
    groups.push_back(tagged("Name", id_ + "-node"));
    const bool has_routers = role_ == (config_.compute_replicas() == 0 ? "master" : "worker");
    if (has_routers) groups.push_back(tagged("Name", id_ + "-lb"));
    if (role_ == "master") groups.push_back(tagged("Name", id_ + "-controlplane"));
    for (const std::string& each : texts_of(pool_.platform, {"additionalSecurityGroupIDs"})) {
      groups.push_back(JsonObject{{"id", each}});
    }
    return groups;
  }

  JsonArray balancers() const {
    JsonArray made;
    made.push_back(JsonObject{{"name", id_ + "-int"}, {"type", "network"}});
    if (config_.publish == "External") made.push_back(JsonObject{{"name", id_ + "-ext"}, {"type", "network"}});
    return made;
  }

  JsonArray tags() const {
    JsonArray made;
    made.push_back(JsonObject{{"name", fmt::format("kubernetes.io/cluster/{}", id_)}, {"value", "owned"}});
    for (const auto& tag : find_object(config_.platform.section, {"userTags"})) {
      made.push_back(JsonObject{{"name", tag.key()}, {"value", text_of(tag.value(), {})}});
    }
    return made;
  }

  const InstallConfig& config_;
  const std::string& id_;
  const MachinePool& pool_;
  std::string_view role_;
  std::string region_;
};

JsonObject failure_domains_of(const Pool& pool) {
  JsonArray domains;
  for (const std::string& zone : pool.zones()) {
    JsonObject subnet = pool.subnet(zone);
    subnet["type"] = "Filters";
    domains.push_back(JsonObject{{"placement", {{"availabilityZone", zone}}}, {"subnet", std::move(subnet)}});
  }
  return {{"aws", std::move(domains)}, {"platform", "AWS"}};
}

}  // namespace

std::string aws_instance_type(const InstallConfig& config, std::string_view role) {
  const MachinePool& pool = pool_of(config, role);
  const std::string given = text_of(pool.platform, {"type"});
  if (!given.empty()) return given;
  const bool is_alone = config.control_plane.replicas == 1 && config.compute_replicas() == 0;
  return fmt::format("{}.{}", pool.architecture == "arm64" ? "m6g" : "m6i", is_alone ? "2xlarge" : "xlarge");
}

AssetFiles aws_machines(const InstallConfig& config, const ClusterId& id) {
  AssetFiles files;
  if (!has_machine_api(config)) return files;
  const Pool masters(config, id, config.control_plane, "master");
  const int replicas = config.control_plane.replicas;
  JsonArray machines;
  for (int i = 0; i < replicas; ++i) {
    const auto number = static_cast<std::size_t>(i);
    const std::vector<std::string> zones = masters.zones();
    machines.push_back(machine(id, "master", machine_name(id, "master", number), masters.provider(zones[number % zones.size()])));
  }
  put_numbered(files, "master-machines", machines);
  if (replicas > 1) {
    files.push_back(control_plane_machine_set(id, replicas, failure_domains_of(masters), masters.provider("")));
  }
  for (const MachinePool& each : config.compute) {
    if (each.name != "worker") continue;
    const Pool workers(config, id, each, "worker");
    const std::vector<std::string> zones = workers.zones();
    const int count = static_cast<int>(zones.size());
    JsonArray sets;
    for (int i = 0; i < count; ++i) {
      const std::string& zone = zones[static_cast<std::size_t>(i)];
      const int share = each.replicas / count + (i < each.replicas % count ? 1 : 0);
      sets.push_back(machine_set(id, "worker", fmt::format("{}-worker-{}", id.infra_id, zone), cluster_label(id), share,
                                 workers.provider(zone)));
    }
    put_numbered(files, "worker-machineset", sets);
  }
  return files;
}

}  // namespace slipway::assets
