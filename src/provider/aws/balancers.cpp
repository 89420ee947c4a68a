// Load balancers.
#include "provider/aws/work.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::aws {

namespace {

constexpr std::string_view cross_zone = "load_balancing.cross_zone.enabled";

Call call_of(std::string_view action, const std::string& object, Parameters parameters, Effect effect = Effect::none) {
  Call call{.service = Service::elb, .action = std::string(action), .object = object, .effect = effect};
  call.parameters = std::move(parameters);
  if (effect != Effect::none) call.waits_for = {Failure::not_found};
  return call;
}

Result<> remove_by(const Work& work, std::string_view action, const Item& item, Parameters parameters) {
  Call call = call_of(action, item.name, std::move(parameters), Effect::once);
  call.waits_for.clear();
  call.expected = {Failure::not_found};
  TRY(work.send(call));
  return Ok{};
}

// The names of a cluster are unique. The tag shows that nobody else used one of them.
Result<> keep_tagged(const Work& work, std::vector<Item>& items) {
  constexpr std::size_t most = 20;  // resources in one call
  const std::string tag = cluster_tag(work.account.infra_id);
  for (std::size_t begin = 0; begin < items.size(); begin += most) {
    Parameters parameters;
    for (std::size_t i = begin; i < std::min(items.size(), begin + most); ++i) {
      parameters.emplace_back(fmt::format("ResourceArns.member.{}", i - begin + 1), items[i].id);
    }
    Call call = call_of("DescribeTags", "", std::move(parameters));
    call.expected = {Failure::not_found};  // removed meanwhile
    const Reply reply = TRY(work.send(call));
    for (std::size_t i = begin; i < std::min(items.size(), begin + most); ++i) {
      items[i].is_ours = false;
      for (const Xml& each : reply.xml.at({"DescribeTagsResult", "TagDescriptions"}).children) {
        if (each.text_at({"ResourceArn"}) != items[i].id) continue;
        for (const Xml& pair : each.at({"Tags"}).children) {
          if (pair.text_at({"Key"}) == tag && pair.text_at({"Value"}) == "owned") items[i].is_ours = true;
        }
      }
    }
  }
  return Ok{};
}

// ---- load balancers

Result<std::vector<Item>> list_load_balancers(const Work& work) {
  const std::vector<std::string> own = load_balancer_names(work.account.infra_id);
  std::vector<Item> items;
  for (const Xml& page : TRY(work.pages(call_of("DescribeLoadBalancers", "", {})))) {
    for (const Xml& found : page.at({"DescribeLoadBalancersResult", "LoadBalancers"}).children) {
      const std::string& name = found.text_at({"LoadBalancerName"});
      if (std::ranges::find(own, name) == own.end()) continue;
      items.push_back({.kind = std::string(load_balancer_kind),
                       .name = name,
                       .id = found.text_at({"LoadBalancerArn"}),
                       .is_whole = false,
                       .facts = {{"dns", found.text_at({"DNSName"})}, {"zone", found.text_at({"CanonicalHostedZoneId"})}}});
    }
  }
  TRY(keep_tagged(work, items));
  for (Item& item : items) {
    // Set last.
    Call call = call_of("DescribeLoadBalancerAttributes", item.name, {{"LoadBalancerArn", item.id}});
    call.expected = {Failure::not_found};
    const Reply reply = TRY(work.send(call));
    for (const Xml& each : reply.xml.at({"DescribeLoadBalancerAttributesResult", "Attributes"}).children) {
      if (each.text_at({"Key"}) == cross_zone && each.text_at({"Value"}) == "true") item.is_whole = true;
    }
  }
  return items;
}

Result<Item> create_load_balancer(const Work& work, const plan::Resource& resource) {
  Parameters parameters = {
      {"Name", resource.name}, {"Type", "network"}, {"Scheme", text(resource, "scheme")}, {"IpAddressType", "ipv4"}};
  int i = 0;
  for (const std::string& subnet : texts_of(resource.spec, {"subnets"})) {
    parameters.emplace_back(fmt::format("Subnets.member.{}", ++i), TRY(work.id_of(subnet)));
  }
  add_member_tags(parameters, tags_of(work.account, resource.name));
  const Reply reply = TRY(work.send(call_of("CreateLoadBalancer", resource.name, std::move(parameters), Effect::twice)));
  const Xml& made = reply.xml.at({"CreateLoadBalancerResult", "LoadBalancers", "member"});
  Item item = item_of(resource, made.text_at({"LoadBalancerArn"}));
  item.facts = {{"dns", made.text_at({"DNSName"})}, {"zone", made.text_at({"CanonicalHostedZoneId"})}};
  TRY(work.send(call_of(
      "ModifyLoadBalancerAttributes", resource.name,
      {{"LoadBalancerArn", item.id}, {"Attributes.member.1.Key", std::string(cross_zone)}, {"Attributes.member.1.Value", "true"}},
      Effect::once)));
  return item;
}

Result<> remove_load_balancer(const Work& work, const Item& item) {
  return remove_by(work, "DeleteLoadBalancer", item, {{"LoadBalancerArn", item.id}});
}

// ---- target groups

Result<std::vector<Item>> list_target_groups(const Work& work) {
  const std::vector<std::string> own = target_group_names(work.account.infra_id);
  std::vector<Item> items;
  for (const Xml& page : TRY(work.pages(call_of("DescribeTargetGroups", "", {})))) {
    for (const Xml& found : page.at({"DescribeTargetGroupsResult", "TargetGroups"}).children) {
      const std::string& name = found.text_at({"TargetGroupName"});
      if (std::ranges::find(own, name) == own.end()) continue;
      items.push_back({.kind = std::string(target_group_kind), .name = name, .id = found.text_at({"TargetGroupArn"})});
    }
  }
  TRY(keep_tagged(work, items));
  return items;
}

Result<Item> create_target_group(const Work& work, const plan::Resource& resource) {
  const std::string path = text(resource, "healthPath");
  Parameters parameters = {{"Name", resource.name},
                           {"Protocol", "TCP"},
                           {"Port", std::to_string(integer_of(resource.spec, {"port"}))},
                           // Targets by address see the load balancer as the client, so that a machine reaches itself through it.
                           {"TargetType", "ip"},
                           {"HealthCheckProtocol", path.empty() ? "TCP" : "HTTPS"},
                           {"HealthCheckIntervalSeconds", "10"},
                           {"HealthyThresholdCount", "2"},
                           {"UnhealthyThresholdCount", "2"}};
  parameters.emplace_back("VpcId", TRY(work.id_of(text(resource, "vpc"))));
  if (!path.empty()) parameters.emplace_back("HealthCheckPath", path);
  add_member_tags(parameters, tags_of(work.account, resource.name));
  const Reply reply = TRY(work.send(call_of("CreateTargetGroup", resource.name, std::move(parameters), Effect::twice)));
  return item_of(resource, reply.xml.text_at({"CreateTargetGroupResult", "TargetGroups", "member", "TargetGroupArn"}));
}

Result<> remove_target_group(const Work& work, const Item& item) {
  return remove_by(work, "DeleteTargetGroup", item, {{"TargetGroupArn", item.id}});
}

// ---- listeners

Result<std::vector<Item>> list_listeners(const Work& work) {
  std::vector<Item> items;
  for (const Item& balancer : TRY(work.all(load_balancer_kind))) {
    if (!balancer.is_ours) continue;
    Call call = call_of("DescribeListeners", balancer.name, {{"LoadBalancerArn", balancer.id}});
    call.expected = {Failure::not_found};
    for (const Xml& page : TRY(work.pages(call))) {
      for (const Xml& found : page.at({"DescribeListenersResult", "Listeners"}).children) {
        items.push_back({.kind = std::string(listener_kind),
                         .name = fmt::format("{}/{}", balancer.name, found.text_at({"Port"})),
                         .id = found.text_at({"ListenerArn"})});
      }
    }
  }
  return items;
}

Result<Item> create_listener(const Work& work, const plan::Resource& resource) {
  Parameters parameters = {{"Protocol", "TCP"},
                           {"Port", std::to_string(integer_of(resource.spec, {"port"}))},
                           {"DefaultActions.member.1.Type", "forward"}};
  parameters.emplace_back("LoadBalancerArn", TRY(work.id_of(text(resource, "balancer"))));
  parameters.emplace_back("DefaultActions.member.1.TargetGroupArn", TRY(work.id_of(text(resource, "targetGroup"))));
  add_member_tags(parameters, tags_of(work.account, resource.name));
  const Reply reply = TRY(work.send(call_of("CreateListener", resource.name, std::move(parameters), Effect::twice)));
  return item_of(resource, reply.xml.text_at({"CreateListenerResult", "Listeners", "member", "ListenerArn"}));
}

Result<> remove_listener(const Work& work, const Item& item) {
  return remove_by(work, "DeleteListener", item, {{"ListenerArn", item.id}});
}

// ---- targets

Result<std::vector<Item>> list_targets(const Work& work) {
  std::vector<Item> items;
  const std::vector<Item> machines = TRY(work.all(machine_kind));
  for (const Item& group : TRY(work.all(target_group_kind))) {
    if (!group.is_ours) continue;
    Call call = call_of("DescribeTargetHealth", group.name, {{"TargetGroupArn", group.id}});
    call.expected = {Failure::not_found};
    const Reply reply = TRY(work.send(call));
    for (const Xml& found : reply.xml.at({"DescribeTargetHealthResult", "TargetHealthDescriptions"}).children) {
      const std::string& address = found.text_at({"Target", "Id"});
      if (found.text_at({"TargetHealth", "State"}) == "draining") continue;
      const auto machine = std::ranges::find_if(machines, [&](const Item& each) { return each.fact("address") == address; });
      const bool is_known = machine != machines.end();
      items.push_back({.kind = std::string(target_kind),
                       .name = fmt::format("{}/{}", group.name, is_known ? machine->machine : address),
                       .machine = is_known ? machine->machine : "",
                       .id = group.id,
                       .facts = {{"address", address}}});
    }
  }
  return items;
}

Result<Item> create_target(const Work& work, const plan::Resource& resource) {
  const std::string group = TRY(work.id_of(text(resource, "targetGroup")));
  const std::string key = text(resource, "machine");
  const std::optional<Item> machine =
      TRY(work.account.inventory.known(work.context, machine_kind, key.substr(key.find('/') + 1)));
  if (!machine || machine->fact("address").empty()) return error(Code::unavailable, "{}: has no address yet", key);
  Item item = item_of(resource, group);
  item.facts = {{"address", machine->fact("address")}};
  TRY(work.send(call_of("RegisterTargets", resource.name,
                        {{"TargetGroupArn", group},
                         {"Targets.member.1.Id", item.fact("address")},
                         {"Targets.member.1.Port", std::to_string(integer_of(resource.spec, {"port"}))}},
                        Effect::once)));
  return item;
}

Result<> remove_target(const Work& work, const Item& item) {
  return remove_by(work, "DeregisterTargets", item, {{"TargetGroupArn", item.id}, {"Targets.member.1.Id", item.fact("address")}});
}

}  // namespace

std::span<const Kind> balancer_kinds() {
  static constexpr std::array kinds = {
      Kind{target_kind, list_targets, create_target, remove_target},
      Kind{listener_kind, list_listeners, create_listener, remove_listener},
      Kind{load_balancer_kind, list_load_balancers, create_load_balancer, remove_load_balancer},
      Kind{target_group_kind, list_target_groups, create_target_group, remove_target_group},
  };
  return kinds;
}

}  // namespace slipway::provider::aws
