// Networks, subnets, routers, security groups.
#include "provider/openstack/work.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::openstack {

namespace {

constexpr NeutronNames networks{network_kind, "networks", "network", "Network"};
constexpr NeutronNames subnets{subnet_kind, "subnets", "subnet", "Subnet"};
constexpr NeutronNames routers{router_kind, "routers", "router", "Router"};
constexpr NeutronNames groups{security_group_kind, "security-groups", "security_group", "SecurityGroup"};

// ---- networks and subnets

Result<std::vector<Item>> list_networks(const Work& work) { return list_neutron(work, networks); }

Result<Item> create_network(const Work& work, const plan::Resource& resource) {
  return create_neutron(work, networks, resource, {{"name", resource.name}, {"admin_state_up", true}});
}

Result<> remove_network(const Work& work, const Item& item) { return remove_neutron(work, networks, item); }

Result<std::vector<Item>> list_subnets(const Work& work) { return list_neutron(work, subnets); }

Result<Item> create_subnet(const Work& work, const plan::Resource& resource) {
  JsonObject body = {{"name", resource.name},
                     {"cidr", text(resource, "cidr")},
                     {"ip_version", 4},
                     {"enable_dhcp", true},
                     {"dns_nameservers", find_array(resource.spec, {"nameServers"})}};
  body["allocation_pools"] = JsonArray{JsonObject{{"start", text(resource, "first")}, {"end", text(resource, "last")}}};
  body["network_id"] = TRY(work.id_of(text(resource, "network")));
  return create_neutron(work, subnets, resource, std::move(body));
}

Result<> remove_subnet(const Work& work, const Item& item) { return remove_neutron(work, subnets, item); }

// ---- routers

Result<std::vector<Item>> list_routers(const Work& work) { return list_neutron(work, routers); }

Result<Item> create_router(const Work& work, const plan::Resource& resource) {
  std::vector<std::string> ids;
  for (const std::string& subnet : texts_of(resource.spec, {"subnets"})) ids.push_back(TRY(work.id_of(subnet)));
  const auto connect = [&](const std::string& router) -> Result<> {
    for (const std::string& subnet : ids) {
      TRY(work.send({.service = Service::neutron,
                     .action = "AddRouterInterface",
                     .object = resource.name,
                     .effect = Effect::twice,
                     .method = "PUT",
                     .target = fmt::format("/routers/{}/add_router_interface", router),
                     .body = JsonObject{{"subnet_id", subnet}}}));
    }
    return Ok{};
  };
  return create_neutron(work, routers, resource,
                        {{"name", resource.name},
                         {"admin_state_up", true},
                         {"external_gateway_info", {{"network_id", text(resource, "external")}}}},
                        connect);
}

// Routers have interfaces of several kinds, depending on how Neutron distributes them.
bool is_interface(std::string_view owner) {
  return owner.starts_with("network:router_interface") || owner == "network:ha_router_replicated_interface";
}

Result<> remove_router(const Work& work, const Item& item) {
  Call call{.service = Service::neutron, .action = "ListPorts", .object = item.name};
  call.target = fmt::format("/ports?device_id={}&fields=id&fields=device_owner", item.id);
  for (const Json& port : TRY(work.list(std::move(call), "ports"))) {
    if (!is_interface(text_of(port, {"device_owner"}))) continue;
    TRY(work.send({.service = Service::neutron,
                   .action = "RemoveRouterInterface",
                   .object = item.name,
                   .effect = Effect::once,
                   .method = "PUT",
                   .target = fmt::format("/routers/{}/remove_router_interface", item.id),
                   .body = JsonObject{{"port_id", text_of(port, {"id"})}},
                   .expected = {Failure::not_found}}));
  }
  return remove_neutron(work, routers, item);
}

// ---- security groups and their rules

// A rule as a specification has it. Neutron has more than one form for the same rule.
Json rule_of(const Json& found, const std::map<std::string, std::string>& names) {
  std::string protocol = text_of(found, {"protocol"}), cidr = text_of(found, {"remote_ip_prefix"});
  if (protocol == "vrrp") protocol = "112";
  if (protocol == "icmpv6") protocol = "ipv6-icmp";
  if (cidr == "0.0.0.0/0" || cidr == "::/0") cidr.clear();
  const auto group = names.find(text_of(found, {"remote_group_id"}));
  return {{"ethertype", text_of(found, {"ethertype"})},
          {"protocol", protocol},
          {"from", integer_of(found, {"port_range_min"})},
          {"to", integer_of(found, {"port_range_max"})},
          {"cidr", cidr},
          {"group", group == names.end() ? "" : fmt::format("{}/{}", security_group_kind, group->second)}};
}

void read_group(Item& item, const Json& found, const Mark&) { item.facts["found"] = find_array(found, {"security_group_rules"}); }

Result<std::vector<Item>> list_groups(const Work& work) {
  return list_neutron(work, groups, {"security_group_rules"}, read_group);
}

Result<Item> create_group(const Work& work, const plan::Resource& resource) {
  return create_neutron(work, groups, resource, {{"name", resource.name}});
}

Result<> remove_group(const Work& work, const Item& item) { return remove_neutron(work, groups, item); }

Result<std::vector<Item>> list_rules(const Work& work) {
  const std::vector<Item> all = TRY(list_groups(work));
  std::map<std::string, std::string> names;
  for (const Item& group : all) names[group.id] = group.name;
  std::vector<Item> items;
  for (const Item& group : all) {
    JsonArray rules, ids;
    const Json facts = group.facts;
    for (const Json& found : find_array(facts, {"found"})) {
      if (text_of(found, {"direction"}) != "ingress") continue;
      rules.push_back(rule_of(found, names));
      ids.emplace_back(text_of(found, {"id"}));
    }
    if (!rules.empty()) {
      items.push_back({.kind = std::string(security_rules_kind),
                       .name = group.name,
                       .id = group.id,
                       .is_ours = group.is_ours,
                       .facts = {{"rules", std::move(rules)}, {"ids", std::move(ids)}}});
    }
  }
  return items;
}

bool are_whole_rules(const Item& item, const plan::Resource& resource) {
  const Json facts = item.facts;
  const JsonArray& existing = find_array(facts, {"rules"});
  return std::ranges::all_of(find_array(resource.spec, {"rules"}),
                             [&](const Json& wanted) { return std::ranges::find(existing, wanted) != existing.end(); });
}

Result<Item> create_rules(const Work& work, const plan::Resource& resource) {
  const std::string group = TRY(work.id_of(text(resource, "group")));
  JsonArray rules;
  for (const Json& rule : find_array(resource.spec, {"rules"})) {
    JsonObject made = {{"direction", "ingress"},
                       {"security_group_id", group},
                       {"ethertype", text_of(rule, {"ethertype"})},
                       {"protocol", text_of(rule, {"protocol"})}};
    if (const int from = integer_of(rule, {"from"}); from > 0) {
      made["port_range_min"] = from;
      made["port_range_max"] = integer_of(rule, {"to"});
    }
    if (std::string cidr = text_of(rule, {"cidr"}); !cidr.empty()) made["remote_ip_prefix"] = std::move(cidr);
    if (const std::string source = text_of(rule, {"group"}); !source.empty()) made["remote_group_id"] = TRY(work.id_of(source));
    rules.push_back(std::move(made));
  }
  TRY(work.send({.service = Service::neutron,
                 .action = "CreateSecurityGroupRules",
                 .object = resource.name,
                 .effect = Effect::twice,
                 .method = "POST",
                 .target = "/security-group-rules",
                 .body = JsonObject{{"security_group_rules", std::move(rules)}}}));
  // Their IDs are needed if they are removed: the next look-up lists them.
  work.project.inventory.forget(security_rules_kind);
  return item_of(resource, group);
}

Result<> remove_rules(const Work& work, const Item& item) {
  for (const std::string& id : texts_of(item.facts, {"ids"})) {
    TRY(work.send({.service = Service::neutron,
                   .action = "DeleteSecurityGroupRule",
                   .object = item.name,
                   .effect = Effect::once,
                   .method = "DELETE",
                   .target = "/security-group-rules/" + id,
                   .expected = {Failure::not_found}}));
  }
  return Ok{};
}

}  // namespace

std::span<const Kind> network_kinds() {
  static constexpr std::array kinds = {
      Kind{router_kind, list_routers, create_router, remove_router},
      Kind{security_rules_kind, list_rules, create_rules, remove_rules, are_whole_rules},
      Kind{security_group_kind, list_groups, create_group, remove_group},
      Kind{subnet_kind, list_subnets, create_subnet, remove_subnet},
      Kind{network_kind, list_networks, create_network, remove_network},
  };
  return kinds;
}

}  // namespace slipway::provider::openstack
