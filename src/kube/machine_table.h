// The machine table: which machines may join the cluster, and in which role. The cluster keeps it in ConfigMap
// openshift-config/machine-addresses, whose key `machines` holds a JSON list:
//   [{"name":"master-0","role":"master","addresses":["10.97.77.11"]}]
// The installer writes the table, `slipway create worker` and `slipway destroy worker` change it, the approver enforces it. It is
// a security boundary: the role of a machine comes from its row and never from the labels of its Node. Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::kube {

inline constexpr std::string_view machine_table_space = "openshift-config";
inline constexpr std::string_view machine_table_name = "machine-addresses";

struct MachineRow {
  std::string name;                    // of the machine and of its Node
  std::string role;                    // "master", "worker"
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

// The rows of a cluster that has no table, by name. Nodes with the address of a member of etcd, which etcd's operator wrote, are
// masters; every other Node is a worker. Labels are no proof: a Node that claims to be a master and runs no member gets no row.
// Of a machine's addresses a row has those that no other Node claims.
struct InitialRows {
  MachineTable rows{};
  std::vector<std::string> problems{};  // what has no row, and why
};

//   endpoints  ConfigMap openshift-etcd/etcd-endpoints: an address a member
InitialRows first_machine_rows(const Json& endpoints, const std::vector<Json>& nodes);

// Null when the table has no such machine.
const MachineRow* find_machine(const MachineTable& rows, std::string_view name);

std::vector<std::string> names_with_role(const MachineTable& rows, std::string_view role);

}  // namespace slipway::kube
