// Ports and floating IPs.
#include "provider/openstack/work.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace slipway::provider::openstack {

namespace {

constexpr NeutronNames ports{port_kind, "ports", "port", "Port"};
constexpr NeutronNames floating_ips{floating_ip_kind, "floatingips", "floatingip", "FloatingIP"};

// ---- ports

void read_port(Item& item, const Json&, const Mark& mark) { item.machine = mark.what; }

Result<std::vector<Item>> list_ports(const Work& work) { return list_neutron(work, ports, {}, read_port); }

Result<Item> create_port(const Work& work, const plan::Resource& resource) {
  JsonObject body = {{"name", resource.name}, {"admin_state_up", true}};
  body["network_id"] = TRY(work.id_of(text(resource, "network")));
  JsonArray fixed, pairs, groups;
  for (const Json& each : find_array(resource.spec, {"addresses"})) {
    JsonObject address;
    address["subnet_id"] = TRY(work.id_of(text_of(each, {"subnet"})));
    if (std::string given = text_of(each, {"address"}); !given.empty()) address["ip_address"] = std::move(given);
    fixed.push_back(std::move(address));
  }
  for (const std::string& address : texts_of(resource.spec, {"pairs"})) pairs.push_back(JsonObject{{"ip_address", address}});
  for (const std::string& group : texts_of(resource.spec, {"groups"})) groups.emplace_back(TRY(work.id_of(group)));
  body["fixed_ips"] = std::move(fixed);
  body["security_groups"] = std::move(groups);
  if (!pairs.empty()) body["allowed_address_pairs"] = std::move(pairs);
  return create_neutron(work, ports, resource, std::move(body));
}

Result<> remove_port(const Work& work, const Item& item) { return remove_neutron(work, ports, item); }

// ---- floating IPs

// Floating IPs have no names.
void read_floating_ip(Item& item, const Json& found, const Mark& mark) {
  item.name = mark.what.empty() ? text_of(found, {"floating_ip_address"}) : named(mark.infra_id, mark.what);
  item.facts = {{"address", text_of(found, {"floating_ip_address"})}, {"port", text_of(found, {"port_id"})}};
}

Result<std::vector<Item>> list_all_floating_ips(const Work& work) {
  return list_neutron(work, floating_ips, {"floating_ip_address", "port_id"}, read_floating_ip);
}

Result<std::vector<Item>> list_floating_ips(const Work& work) {
  std::vector<Item> items = TRY(list_all_floating_ips(work));
  std::erase_if(items, [](const Item& item) { return !item.is_ours; });
  return items;
}

Result<Item> create_floating_ip(const Work& work, const plan::Resource& resource) {
  JsonObject body = {{"floating_network_id", text(resource, "external")}};
  body["port_id"] = TRY(work.id_of(text(resource, "port")));
  if (std::string address = text(resource, "address"); !address.empty()) body["fixed_ip_address"] = std::move(address);
  Item item = TRY(create_neutron(work, floating_ips, resource, std::move(body)));
  // The next look-up has the address.
  work.project.inventory.forget(floating_ip_kind);
  return item;
}

Result<> remove_floating_ip(const Work& work, const Item& item) { return remove_neutron(work, floating_ips, item); }

// ---- floating IPs of the user

Result<JsonArray> find_floating_ips(const Work& work, const std::string& query) {
  const std::string project_id = TRY(work.project.api.token(work.context))->project_id;
  Call call{.service = Service::neutron, .action = "ListFloatingIPs"};
  call.target = fmt::format("/floatingips?project_id={}{}", net::percent_encode(project_id), query);
  return work.list(std::move(call), "floatingips");
}

// Those that lead to a port of the cluster.
Result<std::vector<Item>> list_user_addresses(const Work& work) {
  std::set<std::string> own;
  for (const Item& port : TRY(work.all(port_kind))) {
    if (port.is_ours) own.insert(port.id);
  }
  std::vector<Item> items;
  if (own.empty()) return items;
  for (const Json& found : TRY(find_floating_ips(work, ""))) {
    const std::optional<Mark> mark = read_mark(text_of(found, {"description"}));
    if ((mark && mark->infra_id == work.project.infra_id) || !own.contains(text_of(found, {"port_id"}))) continue;
    items.push_back(
        {.kind = std::string(user_address_kind), .name = text_of(found, {"floating_ip_address"}), .id = text_of(found, {"id"})});
  }
  return items;
}

Result<> set_port(const Work& work, const std::string& id, const std::string& address, Json port, const std::string& fixed) {
  JsonObject body = {{"port_id", std::move(port)}};
  if (!fixed.empty()) body["fixed_ip_address"] = fixed;
  TRY(work.send({.service = Service::neutron,
                 .action = "UpdateFloatingIP",
                 .object = address,
                 .effect = Effect::once,
                 .method = "PUT",
                 .target = "/floatingips/" + id,
                 .body = JsonObject{{"floatingip", std::move(body)}},
                 .expected = {Failure::not_found}}));
  return Ok{};
}

Result<Item> create_user_address(const Work& work, const plan::Resource& resource) {
  const std::string port = TRY(work.id_of(text(resource, "port")));
  const JsonArray found = TRY(find_floating_ips(work, "&floating_ip_address=" + net::percent_encode(resource.name)));
  const auto exact =
      std::ranges::find_if(found, [&](const Json& each) { return text_of(each, {"floating_ip_address"}) == resource.name; });
  if (exact == found.end())
    return error(Code::not_found, "floating IP {}: the project has none with this address", resource.name);
  const std::string id = text_of(*exact, {"id"}), used = text_of(*exact, {"port_id"});
  if (!used.empty() && used != port) {
    return error(Code::conflict, "floating IP {}: is associated with port {} (disassociate it first)", resource.name, used);
  }
  TRY(set_port(work, id, resource.name, Json(port), text(resource, "address")));
  return item_of(resource, id);
}

Result<> remove_user_address(const Work& work, const Item& item) { return set_port(work, item.id, item.name, nullptr, ""); }

}  // namespace

std::span<const Kind> address_kinds() {
  static constexpr std::array kinds = {
      Kind{floating_ip_kind, list_floating_ips, create_floating_ip, remove_floating_ip},
      Kind{user_address_kind, list_user_addresses, create_user_address, remove_user_address},
      Kind{port_kind, list_ports, create_port, remove_port},
  };
  return kinds;
}

}  // namespace slipway::provider::openstack
