#include "components/controller/masters.h"

#include "base/text.h"
#include "components/controller/operand.h"
#include "kube/machine_table.h"
#include "kube/roles.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::components {

namespace {

constexpr std::string_view master = "master";

std::string table_place() { return fmt::format("{}/{}", kube::machine_table_space, kube::machine_table_name); }

bool runs_a_revision(const std::vector<NodeStatus>& known, std::string_view name) {
  return std::ranges::any_of(known, [&](const NodeStatus& status) { return status.node == name && status.current > 0; });
}

}  // namespace

Watched machine_table_watch() {
  return {kube::types::config_maps,
          std::string(kube::machine_table_space),
          {.fields = fmt::format("metadata.name={}", kube::machine_table_name)}};
}

Masters find_masters(const Snapshot& seen, const Json& settings) {
  const Json* object = seen.find(kube::types::config_maps, kube::machine_table_space, kube::machine_table_name);
  const Result<kube::MachineTable> table = object ? kube::parse_machine_table(*object) : kube::MachineTable{};
  const kube::MachineTable rows = table.ok() ? table.value() : kube::MachineTable{};
  const bool labels_decide = table.ok() && kube::names_with_role(rows, master).empty();
  const std::vector<NodeStatus> known = parse_node_statuses(settings);

  Masters found;
  std::vector<std::string> unconfirmed, refused;
  for (const Json* node : seen.list(kube::types::nodes)) {
    const std::string name(kube::name_of(*node));
    if (!kube::has_role(*node, kube::master_label) || kube::is_removed(rows, name)) continue;
    const kube::MachineRow* row = kube::find_machine(rows, name);
    const bool is_confirmed = row && row->role == master;
    if (!is_confirmed) {
      const bool is_taken = labels_decide || (!row && runs_a_revision(known, name));
      (is_taken ? unconfirmed : refused).push_back(name);
      if (!is_taken) continue;
    }
    found.nodes.push_back(node);
  }

  Condition degraded{.type = "MachineTableDegraded"};
  if (!table.ok()) {
    degraded = {degraded.type, true, "TableUnreadable", table.error().message()};
  } else if (!refused.empty()) {
    degraded = {
        degraded.type, true, "LabelWithoutRow",
        fmt::format("node {}: is not a master in ConfigMap {}, but has label {}; gets no control plane (remove the label)",
                    join(refused, ", "), table_place(), kube::master_label)};
  }
  Condition unproven{.type = "MastersUnconfirmed", .is_true = !unconfirmed.empty()};
  if (unproven.is_true) {
    unproven.reason = labels_decide ? "NoTable" : "NoRow";
    unproven.message =
        fmt::format("node {}: no row in ConfigMap {}, the label decides (add the row; if there is no table, run slipway repair)",
                    join(unconfirmed, ", "), table_place());
  }
  found.conditions = {std::move(degraded), std::move(unproven)};
  return found;
}

}  // namespace slipway::components
