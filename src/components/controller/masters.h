// Which nodes are masters. A label alone is no proof: a master gets the keys of the control plane, so the machine table
// (kube/machine_table.h) has to name it too. Pure.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/view.h"

#include <string>
#include <vector>

namespace slipway::components {

struct Masters {
  std::vector<const Json*> nodes{};     // by name; as long as the snapshot
  std::vector<Condition> conditions{};  // MachineTableDegraded, MastersUnconfirmed
};

// What has to be watched besides the nodes.
Watched machine_table_watch();

// A node with the label node-role.kubernetes.io/master is a master when
// - the machine table has a row for it with that role, or
// - the table has no row for it and the node runs a revision of `settings` already (status.nodeStatuses, which no node writes):
//   nothing that it does not have would be given to it, and members of etcd never leave because of a table, or
// - the table is missing or has no master at all: a cluster whose table `slipway repair` has not written yet.
// Any other node with the label is refused, and MachineTableDegraded names it. MastersUnconfirmed is True while a master has no
// row.
//
//   settings  of the static-pod operator that asks
Masters find_masters(const Snapshot& seen, const Json& settings);

}  // namespace slipway::components
