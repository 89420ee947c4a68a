// The roll-out of revisions to nodes. Pure.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/operand.h"
#include "components/controller/reconcile.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slipway::components {

// Why a node must not be touched now, or nothing: taking this member away would break etcd's quorum.
using HoldBack = std::function<std::optional<std::string>(const Snapshot& seen, const std::string& node)>;

struct RolloutState {
  std::vector<NodeStatus> nodes{};  // the next status.nodeStatuses, by name
  int published = 0;                // the next status.latestAvailableRevision: nodes without a revision take it at once
  std::vector<Condition> conditions{};
  std::vector<Notice> notices{};
  std::optional<WallTime> again{};
  int ready_replicas = 0;
  bool is_complete = false;  // every node runs the latest revision
};

// Nodes are those of find_masters. One without a revision gets the latest at once, all of them
// together (wanted_revision): there is nothing to protect. The others get it one after another: the next when the pod of the one
// before is Ready with the label revision=N, all others' pods are Ready, and `hold_back` has nothing against it; nodes whose pod
// is not Ready come first, nodes whose kubelet is silent wait until it is back and stop nobody.
//
// A node failed when the installer said so in its NodeStatus, or when its pod was not there or not Ready for five minutes, two
// when its container keeps ending. It gets its previous revision back, when it has one, and the roll-out stops; it is tried again
// when that one is Ready, after a pause that grows from 10 s to 10 min (lastFailedTime, lastFailedCount), or with a newer
// revision at once.
//
//   latest   newest whole revision; 0: there is none yet
//   missing  what keeps a revision from being made, for the conditions
RolloutState plan_rollout(const Operand& operand, const Json& settings, int latest, const std::vector<std::string>& missing,
                          const Snapshot& seen, const HoldBack& hold_back, WallTime now);

}  // namespace slipway::components
