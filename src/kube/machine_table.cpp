#include "kube/machine_table.h"

#include "base/text.h"
#include "kube/client.h"
#include "kube/roles.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace slipway::kube {

namespace {

// Names of the Nodes with each address.
using NodesAt = std::map<std::string, std::vector<std::string>, std::less<>>;

std::vector<std::string> addresses_of(const Json& node, std::string_view only_type = {}) {
  std::vector<std::string> addresses;
  for (const Json& each : find_array(node, {"status", "addresses"})) {
    if (!only_type.empty() && find_string(each, {"type"}) != only_type) continue;
    const std::string address(find_string(each, {"address"}).value_or(""));
    if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
  }
  return addresses;
}

NodesAt nodes_at(const std::vector<Json>& nodes, std::string_view only_type = {}) {
  NodesAt names;
  for (const Json& node : nodes) {
    for (const std::string& address : addresses_of(node, only_type)) names[address].emplace_back(name_of(node));
  }
  return names;
}

}  // namespace

Result<MachineTable> parse_machine_table(const Json& config_map) {
  const std::string name = describe(config_map);
  const std::string text = TRY(require_string(config_map, {"data", "machines"}).context(name));
  const Json list = TRY(parse_json(text, name + ": data.machines"));
  if (!list.is_array()) return error(Code::invalid, "{}: data.machines: must be a list, got {}", name, kind_name(list));
  MachineTable rows;
  for (const Json& each : list.get_array()) {
    MachineRow row;
    row.name = TRY(require_string(each, {"name"}).context(name));
    row.role = TRY(require_string(each, {"role"}).context(name));
    for (const Json& address : find_array(each, {"addresses"})) {
      if (address.is_string()) row.addresses.emplace_back(address.get_string());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string format_machine_table(const MachineTable& rows) {
  JsonArray list;
  for (const MachineRow& row : rows) {
    list.push_back(
        {{"name", row.name}, {"role", row.role}, {"addresses", JsonArray(row.addresses.begin(), row.addresses.end())}});
  }
  return emit_json(list, JsonStyle::compact);
}

Json with_machine_table(Json config_map, const MachineTable& rows) {
  Json& data = config_map.as_object()["data"];
  if (!data.is_object()) data.emplace_object();
  data.get_object()["machines"] = format_machine_table(rows);
  return config_map;
}

InitialRows first_machine_rows(const Json& endpoints, const std::vector<Json>& nodes) {
  InitialRows first;
  std::set<std::string, std::less<>> members;
  NodesAt of_members = nodes_at(nodes, "InternalIP");
  for (const auto& endpoint : find_object(endpoints, {"data"})) {
    const std::string address(find_string(endpoint.value(), {}).value_or(""));
    const std::vector<std::string>& names = of_members[address];
    if (names.size() == 1) {
      members.insert(names.front());
    } else {
      first.problems.push_back(
          names.empty() ? fmt::format("etcd member {}: no node has this address", address)
                        : fmt::format("etcd member {}: several nodes claim this address: {}", address, join(names, ", ")));
    }
  }
  const NodesAt all = nodes_at(nodes);
  for (const Json& node : nodes) {
    MachineRow row{std::string(name_of(node)), members.contains(name_of(node)) ? "master" : "worker", {}};
    if (row.role == "worker" && has_role(node, master_label)) {
      first.problems.push_back(fmt::format("node {}: has role master, but runs no etcd member", row.name));
      continue;
    }
    for (const std::string& address : addresses_of(node)) {
      if (all.at(address).size() == 1) row.addresses.push_back(address);
    }
    first.rows.push_back(std::move(row));
  }
  std::ranges::sort(first.rows, {}, &MachineRow::name);
  return first;
}

const MachineRow* find_machine(const MachineTable& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &MachineRow::name);
  return found == rows.end() ? nullptr : &*found;
}

bool is_removed(const MachineTable& rows, std::string_view name) {
  const MachineRow* row = find_machine(rows, name);
  return row && row->role == removed_role;
}

std::vector<std::string> names_with_role(const MachineTable& rows, std::string_view role) {
  std::vector<std::string> names;
  for (const MachineRow& row : rows) {
    if (row.role == role) names.push_back(row.name);
  }
  return names;
}

}  // namespace slipway::kube
