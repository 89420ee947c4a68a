#include "cluster/machine_table.h"

#include "kube/client.h"

namespace slipway::cluster {

Result<std::vector<MachineRow>> machine_rows(const Json& config_map) {
  const std::string name = kube::describe(config_map);
  const std::string text = TRY(require_string(config_map, {"data", "machines"}).context(name));
  const Json table = TRY(parse_json(text, name + ": data.machines"));
  if (!table.is_array()) return error(Code::invalid, "{}: data.machines: needs a list, has {}", name, kind_name(table));
  std::vector<MachineRow> rows;
  for (const Json& each : table.get_array()) {
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

Json with_machine_rows(Json config_map, const std::vector<MachineRow>& rows) {
  JsonArray table;
  for (const MachineRow& row : rows) {
    table.push_back(
        {{"name", row.name}, {"role", row.role}, {"addresses", JsonArray(row.addresses.begin(), row.addresses.end())}});
  }
  Json& data = config_map.as_object()["data"];
  if (!data.is_object()) data.emplace_object();
  data.get_object()["machines"] = emit_json(table, JsonStyle::compact);
  return config_map;
}

std::vector<std::string> names_with_role(const std::vector<MachineRow>& rows, std::string_view role) {
  std::vector<std::string> names;
  for (const MachineRow& row : rows) {
    if (row.role == role) names.push_back(row.name);
  }
  return names;
}

}  // namespace slipway::cluster
