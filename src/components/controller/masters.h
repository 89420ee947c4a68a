// Which nodes are masters. A label alone is not enough: a master gets the keys of the control plane, so the machine table
// (kube/machine_table.h) must list it too. Pure.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/view.h"

#include <string>
#include <vector>

namespace slipway::components {

struct Masters {
  std::vector<const Json*> nodes{};     // by name; valid as long as the snapshot
  std::vector<Condition> conditions{};  // MachineTableDegraded, MastersUnconfirmed
};

// The watch that find_masters needs in addition to the nodes.
Watched machine_table_watch();

// A node with the label node-role.kubernetes.io/master is a master if one of these is true:
// - The machine table has a row for it with that role.
// - The table has no row for it, but the node already runs a revision of `settings` (status.nodeStatuses, which no node writes).
//   The node gets nothing that it does not have, and a table that is damaged costs etcd no member.
// - The table is missing or has no master: `slipway repair` has not written it yet.
// Any other node with the label is refused, and MachineTableDegraded names it, unless its row has the role "removed".
// MastersUnconfirmed is True while a master has no row.
//
//   settings  of the static-pod operator that calls this
Masters find_masters(const Snapshot& seen, const Json& settings);

}  // namespace slipway::components
