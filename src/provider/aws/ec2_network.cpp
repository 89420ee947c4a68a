// Networks and security groups.
#include "provider/aws/work.h"

#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::aws {

namespace {

constexpr Milliseconds gateway_limit(600'000);
constexpr sys::Pace gateway_pace{.first = Milliseconds(1000), .longest = Milliseconds(10'000)};

// How EC2 names the objects of a kind in its calls.
struct Names {
  std::string_view kind;
  std::string_view describe;   // "DescribeVpcs"
  std::string_view list;       // the element with the items
  std::string_view id;         // the element with the ID
  std::string_view tag_type;   // the resource type of tags
  std::string_view remove;     // "DeleteVpc"
  std::string_view parameter;  // with the ID: "VpcId"
};
constexpr std::array names = {
    Names{vpc_kind, "DescribeVpcs", "vpcSet", "vpcId", "vpc", "DeleteVpc", "VpcId"},
    Names{internet_gateway_kind, "DescribeInternetGateways", "internetGatewaySet", "internetGatewayId", "internet-gateway",
          "DeleteInternetGateway", "InternetGatewayId"},
    Names{subnet_kind, "DescribeSubnets", "subnetSet", "subnetId", "subnet", "DeleteSubnet", "SubnetId"},
    Names{elastic_ip_kind, "DescribeAddresses", "addressesSet", "allocationId", "elastic-ip", "ReleaseAddress", "AllocationId"},
    Names{nat_gateway_kind, "DescribeNatGateways", "natGatewaySet", "natGatewayId", "natgateway", "DeleteNatGateway",
          "NatGatewayId"},
    Names{route_table_kind, "DescribeRouteTables", "routeTableSet", "routeTableId", "route-table", "DeleteRouteTable",
          "RouteTableId"},
    Names{security_group_kind, "DescribeSecurityGroups", "securityGroupInfo", "groupId", "security-group", "DeleteSecurityGroup",
          "GroupId"},
};

const Names& names_of(std::string_view kind) { return *std::ranges::find(names, kind, &Names::kind); }

using Read = void (*)(Item& item, const Xml& found);

Result<std::vector<Item>> describe(const Work& work, std::string_view kind, Read read = nullptr,
                                   std::string_view skipped_states = "") {
  const Names& named = names_of(kind);
  std::vector<Item> items;
  for (const Xml& page : TRY(work.pages({.action = std::string(named.describe), .parameters = cluster_filter(work.account)}))) {
    for (const Xml& found : page.at({named.list}).children) {
      if (!is_tagged(work.account, found)) continue;
      const std::string& state = found.text_at({"state"});
      if (!state.empty() && skipped_states.find(state) != std::string_view::npos) continue;
      Item item{.kind = std::string(kind), .name = tag_of(found, "Name"), .id = found.text_at({named.id})};
      if (read) read(item, found);
      items.push_back(std::move(item));
    }
  }
  return items;
}

// Creates an object with its tags. Returns the ID.
Result<std::string> make(const Work& work, const plan::Resource& resource, std::string_view action, Parameters parameters,
                         std::initializer_list<std::string_view> id, Effect effect = Effect::twice) {
  add_ec2_tags(parameters, 1, names_of(resource.kind).tag_type, tags_of(work.account, resource.name));
  const Reply reply = TRY(work.send({.action = std::string(action),
                                     .object = resource.name,
                                     .effect = effect,
                                     .parameters = std::move(parameters),
                                     .waits_for = until_visible}));
  std::string made = reply.xml.text_at(id);
  if (made.empty()) return error(Code::internal, "EC2 {} {}: the answer has no ID", action, resource.name);
  return made;
}

// A call that changes an object, and may be repeated.
Result<> change(const Work& work, std::string_view action, const std::string& object, Parameters parameters,
                std::vector<Failure> expected = {}, std::vector<Failure> waits_for = until_visible) {
  TRY(work.send({.action = std::string(action),
                 .object = object,
                 .effect = Effect::once,
                 .parameters = std::move(parameters),
                 .expected = std::move(expected),
                 .waits_for = std::move(waits_for)}));
  return Ok{};
}

Result<> remove(const Work& work, const Item& item) {
  const Names& named = names_of(item.kind);
  return change(work, named.remove, item.name, {{std::string(named.parameter), item.id}}, {Failure::not_found}, {});
}

// ---- VPC, subnets, gateways

Result<std::vector<Item>> list_vpcs(const Work& work) {
  std::vector<Item> items = TRY(describe(work, vpc_kind));
  for (Item& item : items) {
    // Set last.
    const Reply reply = TRY(work.send({.action = "DescribeVpcAttribute",
                                       .object = item.name,
                                       .parameters = {{"VpcId", item.id}, {"Attribute", "enableDnsHostnames"}},
                                       .expected = {Failure::not_found}}));
    item.is_whole = reply.xml.text_at({"enableDnsHostnames", "value"}) == "true";
  }
  return items;
}

Result<Item> create_vpc(const Work& work, const plan::Resource& resource) {
  const std::string id = TRY(make(work, resource, "CreateVpc", {{"CidrBlock", text(resource, "cidr")}}, {"vpc", "vpcId"}));
  TRY(change(work, "ModifyVpcAttribute", resource.name, {{"VpcId", id}, {"EnableDnsHostnames.Value", "true"}}));
  return item_of(resource, id);
}

Result<std::vector<Item>> list_internet_gateways(const Work& work) {
  return describe(work, internet_gateway_kind, [](Item& item, const Xml& found) {
    item.facts["vpc"] = found.text_at({"attachmentSet", "item", "vpcId"});
    item.is_whole = !item.fact("vpc").empty();
  });
}

Result<Item> create_internet_gateway(const Work& work, const plan::Resource& resource) {
  const std::string vpc = TRY(work.id_of(text(resource, "vpc")));
  const std::string id = TRY(make(work, resource, "CreateInternetGateway", {}, {"internetGateway", "internetGatewayId"}));
  TRY(change(work, "AttachInternetGateway", resource.name, {{"InternetGatewayId", id}, {"VpcId", vpc}}, {Failure::exists}));
  Item item = item_of(resource, id);
  item.facts["vpc"] = vpc;
  return item;
}

Result<> remove_internet_gateway(const Work& work, const Item& item) {
  if (const std::string vpc = item.fact("vpc"); !vpc.empty()) {
    TRY(change(work, "DetachInternetGateway", item.name, {{"InternetGatewayId", item.id}, {"VpcId", vpc}}, {Failure::not_found},
               {}));
  }
  return remove(work, item);
}

Result<std::vector<Item>> list_subnets(const Work& work) { return describe(work, subnet_kind); }

Result<Item> create_subnet(const Work& work, const plan::Resource& resource) {
  Parameters parameters = {{"CidrBlock", text(resource, "cidr")}, {"AvailabilityZone", text(resource, "zone")}};
  parameters.emplace_back("VpcId", TRY(work.id_of(text(resource, "vpc"))));
  std::string id = TRY(make(work, resource, "CreateSubnet", std::move(parameters), {"subnet", "subnetId"}));
  return item_of(resource, std::move(id));
}

Result<std::vector<Item>> list_elastic_ips(const Work& work) { return describe(work, elastic_ip_kind); }

Result<Item> create_elastic_ip(const Work& work, const plan::Resource& resource) {
  Parameters parameters = {{"Domain", "vpc"}};
  if (const std::string pool = text(resource, "pool"); !pool.empty()) parameters.emplace_back("PublicIpv4Pool", pool);
  std::string id = TRY(make(work, resource, "AllocateAddress", std::move(parameters), {"allocationId"}));
  return item_of(resource, std::move(id));
}

Result<std::vector<Item>> list_nat_gateways(const Work& work) {
  return describe(
      work, nat_gateway_kind, [](Item& item, const Xml& found) { item.facts["state"] = found.text_at({"state"}); },
      "deleting deleted");
}

// Takes minutes to become available; who needs that waits.
Result<Item> create_nat_gateway(const Work& work, const plan::Resource& resource) {
  const std::string address = TRY(work.id_of(text(resource, "address")));
  Parameters parameters = {{"AllocationId", address}, {"ClientToken", fmt::format("{}-{}", resource.name, address)}};
  parameters.emplace_back("SubnetId", TRY(work.id_of(text(resource, "subnet"))));
  std::string id =
      TRY(make(work, resource, "CreateNatGateway", std::move(parameters), {"natGateway", "natGatewayId"}, Effect::twice));
  return item_of(resource, std::move(id));
}

Result<> wait_for_nat_gateway(const Work& work, const std::string& id) {
  return sys::wait_for(
      work.context, fmt::format("NAT gateway {}", id), gateway_limit,
      [&]() -> Result<sys::Observation> {
        const Reply reply = TRY(work.send(
            {.action = "DescribeNatGateways", .object = id, .parameters = {{"NatGatewayId.1", id}}, .waits_for = until_visible}));
        const Xml& found = reply.xml.at({"natGatewaySet", "item"});
        const std::string& state = found.text_at({"state"});
        if (state == "available") return sys::Observation::done();
        if (state == "failed") return error(Code::invalid, "NAT gateway {}: {}", id, found.text_at({"failureMessage"}));
        return sys::Observation::not_yet("is {}", state);
      },
      nullptr, gateway_pace);
}

// ---- route tables

Result<std::vector<Item>> list_route_tables(const Work& work) {
  return describe(work, route_table_kind, [](Item& item, const Xml& found) {
    JsonArray associations;
    for (const Xml& each : found.at({"associationSet"}).children) {
      if (each.text_at({"main"}) != "true") associations.emplace_back(each.text_at({"routeTableAssociationId"}));
    }
    bool has_way_out = false;
    for (const Xml& route : found.at({"routeSet"}).children) {
      has_way_out = has_way_out || route.text_at({"destinationCidrBlock"}) == "0.0.0.0/0";
    }
    item.facts = {{"associations", std::move(associations)}, {"hasWayOut", has_way_out}};
  });
}

bool is_whole_route_table(const Item& item, const plan::Resource& resource) {
  const Json facts = item.facts;
  return is_true(facts, {"hasWayOut"}) && find_array(facts, {"associations"}).size() >= find_array(resource.spec, {"subnets"}).size();
}

Result<Item> create_route_table(const Work& work, const plan::Resource& resource) {
  const std::string vpc = TRY(work.id_of(text(resource, "vpc")));
  const std::string gateway_key = text(resource, "gateway");
  const std::string gateway = TRY(work.id_of(gateway_key));
  const bool is_nat = gateway_key.starts_with(nat_gateway_kind);
  const std::string id = TRY(make(work, resource, "CreateRouteTable", {{"VpcId", vpc}}, {"routeTable", "routeTableId"}));
  JsonArray associations;
  for (const std::string& subnet : texts_of(resource.spec, {"subnets"})) {
    Parameters parameters = {{"RouteTableId", id}};
    parameters.emplace_back("SubnetId", TRY(work.id_of(subnet)));
    const Reply reply = TRY(work.send({.action = "AssociateRouteTable",
                                       .object = resource.name,
                                       .effect = Effect::once,
                                       .parameters = std::move(parameters),
                                       .expected = {Failure::exists},
                                       .waits_for = until_visible}));
    associations.emplace_back(reply.xml.text_at({"associationId"}));
  }
  if (is_nat) TRY(wait_for_nat_gateway(work, gateway));
  // Repeated calls find what the first one did: nothing else changes an object of the cluster that is just being created.
  TRY(change(work, "CreateRoute", resource.name,
             {{"RouteTableId", id}, {"DestinationCidrBlock", "0.0.0.0/0"}, {is_nat ? "NatGatewayId" : "GatewayId", gateway}},
             {Failure::exists}));
  Item item = item_of(resource, id);
  item.facts = {{"associations", std::move(associations)}, {"hasWayOut", true}};
  return item;
}

Result<> remove_route_table(const Work& work, const Item& item) {
  for (const std::string& association : texts_of(item.facts, {"associations"})) {
    TRY(change(work, "DisassociateRouteTable", item.name, {{"AssociationId", association}}, {Failure::not_found}, {}));
  }
  return remove(work, item);
}

// ---- security groups

// The rules of a group as parameters of the calls that change them.
JsonObject facts_of(const Parameters& permissions) {
  JsonObject members;
  for (const auto& [name, value] : permissions) members[name] = value;
  return {{"permissions", std::move(members)}};
}

Result<std::vector<Item>> list_security_groups(const Work& work) {
  return describe(work, security_group_kind, [](Item& item, const Xml& found) {
    Parameters permissions;
    int i = 0;
    for (const Xml& permission : found.at({"ipPermissions"}).children) {
      const std::string prefix = fmt::format("IpPermissions.{}", ++i);
      for (const auto& [from, to] : {std::pair{"ipProtocol", ".IpProtocol"}, {"fromPort", ".FromPort"}, {"toPort", ".ToPort"}}) {
        if (const std::string& value = permission.text_at({from}); !value.empty()) permissions.emplace_back(prefix + to, value);
      }
      int j = 0;
      for (const Xml& range : permission.at({"ipRanges"}).children) {
        permissions.emplace_back(fmt::format("{}.IpRanges.{}.CidrIp", prefix, ++j), range.text_at({"cidrIp"}));
      }
      j = 0;
      for (const Xml& group : permission.at({"groups"}).children) {
        permissions.emplace_back(fmt::format("{}.Groups.{}.GroupId", prefix, ++j), group.text_at({"groupId"}));
      }
    }
    item.facts = facts_of(permissions);
  });
}

Result<Item> create_security_group(const Work& work, const plan::Resource& resource) {
  Parameters parameters = {{"GroupName", resource.name}, {"GroupDescription", text(resource, "description")}};
  parameters.emplace_back("VpcId", TRY(work.id_of(text(resource, "vpc"))));
  std::string id = TRY(make(work, resource, "CreateSecurityGroup", std::move(parameters), {"groupId"}));
  return item_of(resource, std::move(id));
}

// All rules of a group are created by one call, so they exist completely or not at all.
Result<std::vector<Item>> list_security_rules(const Work& work) {
  std::vector<Item> items;
  for (Item& group : TRY(list_security_groups(work))) {
    const Json facts = group.facts;
    if (find_object(facts, {"permissions"}).empty()) continue;
    group.kind = security_rules_kind;
    items.push_back(std::move(group));
  }
  return items;
}

Result<Item> create_security_rules(const Work& work, const plan::Resource& resource) {
  const std::string group = TRY(work.id_of(text(resource, "group")));
  Parameters permissions;
  int i = 0;
  for (const Json& rule : find_array(resource.spec, {"rules"})) {
    const std::string prefix = fmt::format("IpPermissions.{}", ++i);
    permissions.emplace_back(prefix + ".IpProtocol", text_of(rule, {"protocol"}));
    permissions.emplace_back(prefix + ".FromPort", std::to_string(integer_of(rule, {"from"})));
    permissions.emplace_back(prefix + ".ToPort", std::to_string(integer_of(rule, {"to"})));
    int j = 0;
    for (const std::string& cidr : texts_of(rule, {"cidrs"})) {
      permissions.emplace_back(fmt::format("{}.IpRanges.{}.CidrIp", prefix, ++j), cidr);
    }
    j = 0;
    for (const std::string& source : texts_of(rule, {"groups"})) {
      permissions.emplace_back(fmt::format("{}.Groups.{}.GroupId", prefix, ++j), TRY(work.id_of(source)));
    }
  }
  Parameters parameters = {{"GroupId", group}};
  std::ranges::copy(permissions, std::back_inserter(parameters));
  TRY(change(work, "AuthorizeSecurityGroupIngress", resource.name, std::move(parameters), {Failure::exists}));
  Item item = item_of(resource, group);
  item.facts = facts_of(permissions);
  return item;
}

Result<> remove_security_rules(const Work& work, const Item& item) {
  Parameters parameters = {{"GroupId", item.id}};
  const Json permissions = item.facts;
  for (const auto& member : find_object(permissions, {"permissions"})) {
    parameters.emplace_back(member.key(), text_of(member.value(), {}));
  }
  return change(work, "RevokeSecurityGroupIngress", item.name, std::move(parameters), {Failure::not_found}, {});
}

}  // namespace

std::span<const Kind> network_kinds() {
  static constexpr std::array kinds = {
      Kind{security_rules_kind, list_security_rules, create_security_rules, remove_security_rules},
      Kind{security_group_kind, list_security_groups, create_security_group, remove},
      Kind{route_table_kind, list_route_tables, create_route_table, remove_route_table, is_whole_route_table},
      Kind{nat_gateway_kind, list_nat_gateways, create_nat_gateway, remove},
      Kind{elastic_ip_kind, list_elastic_ips, create_elastic_ip, remove},
      Kind{subnet_kind, list_subnets, create_subnet, remove},
      Kind{internet_gateway_kind, list_internet_gateways, create_internet_gateway, remove_internet_gateway},
      Kind{vpc_kind, list_vpcs, create_vpc, remove},
  };
  return kinds;
}

}  // namespace slipway::provider::aws
