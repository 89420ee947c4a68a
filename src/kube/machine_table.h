// The machine table: which machines may join the cluster, and in which role. The cluster keeps it in ConfigMap
// openshift-config/machine-addresses, whose key `machines` holds a JSON list:
//   [{"name":"master-0","role":"master","addresses":["10.97.77.11"]}]
// The installer writes the table; `slipway create worker`, `destroy worker`, `create master`, `destroy master` and `replace
// master` change it; the approver enforces it. It is a security boundary: the role of a machine comes from its row and never from
// the labels of its Node. Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::kube {

inline constexpr std::string_view machine_table_space = "openshift-config";
inline constexpr std::string_view machine_table_name = "machine-addresses";

// The role of a machine that was a master and leaves the cluster: it gets no control plane, its member of etcd is removed, and it
// may not join. Without a row, a node that runs the control plane keeps it: a table that is damaged must not cost etcd a member.
inline constexpr std::string_view removed_role = "removed";

struct MachineRow {
  std::string name;                    // of the machine and of its Node
  std::string role;                    // "master", "worker", "removed"
  std::vector<std::string> addresses;  // IP addresses and host names; empty: unknown, not restricted

  bool operator==(const MachineRow&) const = default;
};
using MachineTable = std::vector<MachineRow>;

// errors: invalid: the key `machines` is missing or is not a list; a row has no name or no role
Result<MachineTable> parse_machine_table(const Json& config_map);

// The text for the key `machines`.
std::string format_machine_table(const MachineTable& rows);

// The ConfigMap with these rows; its other content is unchanged.
Json with_machine_table(Json config_map, const MachineTable& rows);

// The initial rows of a cluster without a table, sorted by name. Nodes with the address of an etcd member, as written by the etcd
// operator, are masters; all other Nodes are workers. Labels prove nothing: a Node with the master label but without a member
// gets no row. A row has only those addresses of its machine that no other Node claims.
struct InitialRows {
  MachineTable rows{};
  std::vector<std::string> problems{};  // members and nodes without a row, with the reason
};

//   endpoints  ConfigMap openshift-etcd/etcd-endpoints: one address for each member
InitialRows first_machine_rows(const Json& endpoints, const std::vector<Json>& nodes);

// Null if the table has no such machine.
const MachineRow* find_machine(const MachineTable& rows, std::string_view name);

// Whether the table says that the machine with this name leaves the cluster.
bool is_removed(const MachineTable& rows, std::string_view name);

std::vector<std::string> names_with_role(const MachineTable& rows, std::string_view role);

}  // namespace slipway::kube
