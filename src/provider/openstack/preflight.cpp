#include "provider/openstack/preflight.h"

#include "base/text.h"
#include "net/ip.h"
#include "provider/planned_machines.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace slipway::provider::openstack {

namespace {

const std::string section_path = "platform.openstack.";

Result<JsonArray> find_by(const Work& work, std::string_view path, std::string_view members, const std::string& query) {
  Call call{.service = Service::neutron, .action = fmt::format("List {}", path)};
  call.target = fmt::format("/{}?{}", path, query);
  return work.list(std::move(call), members);
}

// The only object with a name or an ID. field: for messages
Result<Json> find_only(const Work& work, std::string_view path, std::string_view members, const Json& given,
                       const std::string& field) {
  const std::string id = text_of(given, {"id"}), name = text_of(given, {"name"});
  const std::string query = id.empty() ? "name=" + net::percent_encode(name) : "id=" + net::percent_encode(id);
  const JsonArray found = TRY(find_by(work, path, members, query));
  const std::string& shown = id.empty() ? name : id;
  if (found.empty()) return error(Code::invalid, "{}: {} does not exist, or the project may not use it", field, shown);
  if (found.size() > 1)
    return error(Code::invalid, "{}: the project sees {} objects with the name {} (use the ID)", field, found.size(), shown);
  return found.front();
}

Result<> read_external_network(const Work& work, const std::string& given, Site& site) {
  const std::string field = section_path + "externalNetwork";
  Result<Json> found = find_only(work, "networks", "networks", {{"name", given}}, field);
  if (!found.ok() && found.error().code() == Code::invalid) {
    if (Result<Json> by_id = find_only(work, "networks", "networks", {{"id", given}}, field); by_id.ok())
      found = std::move(by_id);
  }
  const Json network = TRY(std::move(found));
  if (!is_true(network, {"router:external"})) return error(Code::invalid, "{}: {} is not an external network", field, given);
  site.external_network = text_of(network, {"id"});
  return Ok{};
}

Result<> read_subnets(const Work& work, const config::InstallConfig& config, const Json& port, Site& site) {
  const JsonArray& addresses = find_array(port, {"fixedIPs"});
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::string field = fmt::format("{}controlPlanePort.fixedIPs[{}].subnet", section_path, i);
    const Json* given = find(addresses[i], {"subnet"});
    if (!given) continue;
    const Json subnet = TRY(find_only(work, "subnets", "subnets", *given, field));
    const std::string network = text_of(subnet, {"network_id"}), cidr = text_of(subnet, {"cidr"});
    if (!site.user_network.empty() && site.user_network != network) {
      return error(Code::invalid, "{}: is in another network than the first subnet", field);
    }
    if (std::ranges::find(config.networking.machine_network, cidr) == config.networking.machine_network.end()) {
      return error(Code::invalid, "{}: has the network {}, which is not one of networking.machineNetwork ({})", field, cidr,
                   join(config.networking.machine_network, ", "));
    }
    site.user_network = network;
    site.subnets.push_back({.id = text_of(subnet, {"id"}), .cidr = cidr});
  }
  const Json* network = find(port, {"network"});
  if (!network || !network->is_object() || network->get_object().empty()) return Ok{};
  const std::string field = section_path + "controlPlanePort.network";
  const Json found = TRY(find_only(work, "networks", "networks", *network, field));
  if (text_of(found, {"id"}) == site.user_network) return Ok{};
  return error(Code::invalid, "{}: does not contain the subnets of fixedIPs", field);
}

Result<> read_image(const Work& work, const std::string& given, Site& site) {
  Call call{.service = Service::glance, .action = "ListImages"};
  call.target = "/images?name=" + net::percent_encode(given);
  JsonArray found;
  for (const Json& image : TRY(work.list(std::move(call), "images"))) {
    if (text_of(image, {"name"}) == given) found.push_back(image);
  }
  const std::string field = section_path + "clusterOSImage";
  if (found.empty()) return error(Code::invalid, "{}: Glance has no image {} (or name a URL)", field, given);
  if (found.size() > 1) return error(Code::invalid, "{}: Glance has {} images with the name {}", field, found.size(), given);
  if (text_of(found.front(), {"status"}) != "active") {
    return error(Code::invalid, "{}: image {} is {}, not active", field, given, text_of(found.front(), {"status"}));
  }
  site.user_image = text_of(found.front(), {"id"});
  return Ok{};
}

// ---- quotas

struct QuotaRow {
  std::string_view what;
  int Needs::*needed;
  std::string_view limit;  // in the answer of the service
  std::string_view used;
};
constexpr std::array nova_rows = {
    QuotaRow{"servers", &Needs::servers, "maxTotalInstances", "totalInstancesUsed"},
    QuotaRow{"vCPUs", &Needs::vcpus, "maxTotalCores", "totalCoresUsed"},
    QuotaRow{"MiB of memory", &Needs::ram_mib, "maxTotalRAMSize", "totalRAMUsed"},
    QuotaRow{"server groups", &Needs::server_groups, "maxServerGroups", "totalServerGroupsUsed"},
};
constexpr std::array cinder_rows = {
    QuotaRow{"volumes", &Needs::volumes, "maxTotalVolumes", "totalVolumesUsed"},
    QuotaRow{"GiB of volumes", &Needs::volume_gib, "maxTotalVolumeGigabytes", "totalGigabytesUsed"},
};
// Neutron has an object for each, with limit and used.
constexpr std::array neutron_rows = {
    QuotaRow{"networks", &Needs::networks, "network", ""},
    QuotaRow{"subnets", &Needs::subnets, "subnet", ""},
    QuotaRow{"routers", &Needs::routers, "router", ""},
    QuotaRow{"ports", &Needs::ports, "port", ""},
    QuotaRow{"floating IPs", &Needs::floating_ips, "floatingip", ""},
    QuotaRow{"security groups", &Needs::security_groups, "security_group", ""},
    QuotaRow{"security group rules", &Needs::security_rules, "security_group_rule", ""},
};

void add_quota(ProjectCheck& check, const QuotaRow& row, int needed, const Json* limit, int used) {
  if (needed == 0) return;
  plan::Quota quota{.what = std::string(row.what), .needed = needed, .used = used};
  // -1: no limit.
  if (limit && limit->is_int64() && limit->get_int64() >= 0) quota.limit = static_cast<int>(limit->get_int64());
  if (!quota.is_enough()) {
    check.problems
        .error({}, "quotas", "{}: the cluster needs {}, {} of {} are used", quota.what, quota.needed, quota.used, *quota.limit)
        .hint("raise the quota of the project, or remove what is not needed");
  }
  check.quotas.push_back(std::move(quota));
}

template <class Rows>
Result<> check_limits(const Work& work, Service service, const Rows& rows, const Needs& needs, ProjectCheck& check) {
  Call call{.service = service, .action = "GetLimits", .target = "/limits"};
  call.expected = {Failure::denied, Failure::not_found};
  const Reply reply = TRY(work.send(call));
  if (reply.failure) return Ok{};
  const Json* limits = find(reply.json, {"limits", "absolute"});
  if (!limits) return Ok{};
  for (const QuotaRow& row : rows) {
    add_quota(check, row, needs.*row.needed, find(*limits, {row.limit}), integer_of(*limits, {row.used}));
  }
  return Ok{};
}

Result<> check_neutron_quotas(const Work& work, const Needs& needs, ProjectCheck& check) {
  const std::string project_id = TRY(work.project.api.token(work.context))->project_id;
  Call call{
      .service = Service::neutron, .action = "GetQuotaDetails", .target = fmt::format("/quotas/{}/details.json", project_id)};
  call.expected = {Failure::denied, Failure::not_found};
  const Reply reply = TRY(work.send(call));
  if (reply.failure) return Ok{};
  for (const QuotaRow& row : neutron_rows) {
    add_quota(check, row, needs.*row.needed, find(reply.json, {"quota", row.limit, "limit"}),
              integer_of(reply.json, {"quota", row.limit, "used"}) + integer_of(reply.json, {"quota", row.limit, "reserved"}));
  }
  return Ok{};
}

// ---- what the config names

// An entry of the config that is checked once, although several machines have it.
Result<> check_flavors(const Work& work, const plan::Plan& plan, Findings& problems) {
  std::set<std::string> names;
  for (const plan::Resource& resource : plan) {
    if (resource.kind != machine_kind || !names.insert(text(resource, "flavor")).second) continue;
    const Result<Flavor> flavor = work.project.flavors.get(work.context, work.project.api, text(resource, "flavor"));
    if (!flavor.ok() && flavor.error().code() != Code::not_found) return flavor.error();
    if (!flavor.ok()) {
      problems.error({}, "type", "{}", flavor.error().message()).hint("`openstack flavor list` names those that exist");
    } else if (flavor->disk_gib == 0 && text(resource, "volume").empty()) {
      problems.error({}, "type", "flavor {}: has no disk", flavor->name).hint("set rootVolume, or use a flavor with a disk");
    }
  }
  return Ok{};
}

Result<> check_zones(const Work& work, const plan::Plan& plan, Findings& problems) {
  std::set<std::string> wanted;
  for (const plan::Resource& resource : plan) {
    if (resource.kind == machine_kind && !text(resource, "zone").empty()) wanted.insert(text(resource, "zone"));
  }
  if (wanted.empty()) return Ok{};
  const JsonArray zones = TRY(
      work.list({.service = Service::nova, .action = "ListZones", .target = "/os-availability-zone"}, "availabilityZoneInfo"));
  for (const std::string& zone : wanted) {
    const bool exists = std::ranges::any_of(zones, [&](const Json& each) {
      return text_of(each, {"zoneName"}) == zone && is_true(each, {"zoneState", "available"});
    });
    if (!exists) problems.error({}, "zones", "zone {} does not exist or is not available", zone);
  }
  return Ok{};
}

Result<> check_addresses(const Work& work, const Site& site, const plan::Plan& plan, Findings& problems) {
  for (const plan::Resource& resource : plan) {
    if (resource.kind == user_address_kind) {
      const JsonArray found =
          TRY(find_by(work, "floatingips", "floatingips", "floating_ip_address=" + net::percent_encode(resource.name)));
      if (found.empty()) {
        problems.error({}, "floating IPs", "{} is not a floating IP of the project", resource.name).hint("create it first");
      } else if (const std::string port = text_of(found.front(), {"port_id"}); !port.empty()) {
        problems.error({}, "floating IPs", "{} is associated with port {}", resource.name, port).hint("disassociate it");
      }
    }
    if (resource.kind != port_kind || site.user_network.empty()) continue;
    for (const Json& each : find_array(resource.spec, {"addresses"})) {
      const std::string address = text_of(each, {"address"});
      if (address.empty()) continue;
      const std::string query =
          fmt::format("network_id={}&fixed_ips=ip_address%3D{}", site.user_network, net::percent_encode(address));
      const JsonArray found = TRY(find_by(work, "ports", "ports", query));
      if (!found.empty()) {
        problems.error({}, "virtual addresses", "{} is in use by port {}", address, text_of(found.front(), {"id"}))
            .hint("choose other apiVIPs and ingressVIPs");
      }
    }
  }
  return Ok{};
}

Result<> check_references(const Work& work, const config::InstallConfig& config, Findings& problems) {
  std::set<std::pair<std::string, std::string>> wanted;
  for (const std::string_view role : {"master", "worker"}) {
    const Json& pool = pool_of(config, role);
    for (const std::string& id : texts_of(pool, {"additionalNetworkIDs"})) wanted.emplace("networks", id);
    for (const std::string& id : texts_of(pool, {"additionalSecurityGroupIDs"})) wanted.emplace("security-groups", id);
  }
  for (const auto& [path, id] : wanted) {
    Call call{.service = Service::neutron, .action = "Get", .object = id, .target = fmt::format("/{}/{}", path, id)};
    call.expected = {Failure::not_found};
    if (TRY(work.send(call)).failure) problems.error({}, path, "{} does not exist, or the project may not use it", id);
  }
  return Ok{};
}

// Services have no dry runs, but nobody may create something with the role reader only.
Result<> check_roles(const Work& work, ProjectCheck& check) {
  const std::shared_ptr<const Token> token = TRY(work.project.api.token(work.context));
  const auto reads_only = [](const std::string& role) { return to_lower(role) == "reader"; };
  if (token->roles.empty() || !std::ranges::all_of(token->roles, reads_only)) return Ok{};
  check.missing_permissions.emplace_back("role member");
  check.problems.error({}, "permissions", "the user may only read in project {}", token->project_name)
      .hint("give the user the role member in the project");
  return Ok{};
}

}  // namespace

Result<Site> read_site(const Work& work, const config::InstallConfig& config) {
  const Json& section = config.platform.section;
  Site site;
  if (const std::string given = text_of(section, {"externalNetwork"}); !given.empty())
    TRY(read_external_network(work, given, site));
  if (const Json* port = find(section, {"controlPlanePort"}); port && port->is_object())
    TRY(read_subnets(work, config, *port, site));
  const std::string image = text_of(section, {"clusterOSImage"});
  if (!image.empty() && image_url(section).empty()) TRY(read_image(work, image, site));
  site.has_temp_urls = TRY(has_temp_urls(work.context, work.project.api));
  return site;
}

Needs needs_of(const plan::Plan& plan, const std::vector<Flavor>& flavors) {
  Needs needs;
  for (const plan::Resource& resource : plan) {
    if (resource.kind == network_kind) ++needs.networks;
    if (resource.kind == subnet_kind) ++needs.subnets;
    if (resource.kind == router_kind) {
      ++needs.routers;
      needs.ports += static_cast<int>(find_array(resource.spec, {"subnets"}).size());
    }
    if (resource.kind == port_kind) ++needs.ports;
    if (resource.kind == floating_ip_kind) ++needs.floating_ips;
    if (resource.kind == server_group_kind) ++needs.server_groups;
    if (resource.kind == security_group_kind) {
      ++needs.security_groups;
      needs.security_rules += 2;  // those that each new group has
    }
    if (resource.kind == security_rules_kind)
      needs.security_rules += static_cast<int>(find_array(resource.spec, {"rules"}).size());
    if (resource.kind == volume_kind) {
      ++needs.volumes;
      needs.volume_gib += integer_of(resource.spec, {"size"});
    }
    if (resource.kind != machine_kind) continue;
    ++needs.servers;
    needs.ports += static_cast<int>(find_array(resource.spec, {"networks"}).size());
    const std::string name = text(resource, "flavor");
    const auto flavor = std::ranges::find_if(flavors, [&](const Flavor& each) { return each.name == name || each.id == name; });
    if (flavor == flavors.end()) continue;
    needs.vcpus += flavor->vcpus;
    needs.ram_mib += flavor->ram_mib;
  }
  return needs;
}

Result<ProjectCheck> check_project(const Work& work, const config::InstallConfig& config, const Site& site,
                                   const plan::Plan& plan) {
  ProjectCheck check;
  TRY(check_roles(work, check));
  TRY(check_flavors(work, plan, check.problems));
  TRY(check_zones(work, plan, check.problems));
  TRY(check_addresses(work, site, plan, check.problems));
  TRY(check_references(work, config, check.problems));
  const std::vector<Flavor> flavors = TRY(work.project.flavors.all(work.context, work.project.api));
  const Needs needs = needs_of(plan, flavors);
  TRY(check_limits(work, Service::nova, nova_rows, needs, check));
  TRY(check_neutron_quotas(work, needs, check));
  if (needs.volumes > 0) {
    if (TRY(work.project.api.has_service(work.context, Service::cinder))) {
      TRY(check_limits(work, Service::cinder, cinder_rows, needs, check));
    } else {
      check.problems.error({}, "rootVolume", "the cloud has no Cinder").hint("remove rootVolume");
    }
  }
  return check;
}

}  // namespace slipway::provider::openstack
