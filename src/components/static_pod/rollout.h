// The rollout of revisions to nodes. Pure.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/operand.h"
#include "components/controller/reconcile.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slipway::components {

// Why a node must not get a new revision now, for example because etcd would lose its quorum.
struct Objection {
  std::string reason;
  std::optional<WallTime> until{};  // it may end then without a change of an object
};
using RolloutGuard = std::function<std::optional<Objection>(const Snapshot& seen, const std::string& node, WallTime now)>;

struct RolloutState {
  std::vector<NodeStatus> nodes{};  // the next status.nodeStatuses, by name
  int published = 0;                // the next status.latestAvailableRevision: nodes without a revision install it
  std::vector<Condition> conditions{};
  std::vector<Notice> notices{};
  std::optional<WallTime> replan_at{};
  int ready_replicas = 0;
  bool is_complete = false;  // every node runs the latest revision
};

// The nodes are those of find_masters. Nodes without a revision get the latest one together (wanted_revision): they run nothing
// that could be interrupted. The other nodes get it one after another. The next node starts when the pod of the previous one is
// Ready with the label revision=N, the pods of all other nodes are Ready, and `rollout_guard` has no objection. Nodes whose pod
// is not Ready come first. A node whose kubelet does not report waits until it is back and does not stop the others.
//
// A node has failed if the installer reports it in its NodeStatus, or if its pod was missing or not Ready for five minutes (two
// minutes if its container keeps crashing). The node then gets its previous revision, if it has one, and the rollout stops. The
// failed revision is retried when the previous one is Ready, after a pause of 10 s to 10 min (lastFailedTime, lastFailedCount). A
// newer revision is rolled out immediately.
//
//   latest   newest complete revision; 0: none
//   missing  why no revision can be created, for the conditions
RolloutState plan_rollout(const Operand& operand, const Json& settings, int latest, const std::vector<std::string>& missing,
                          const Snapshot& seen, const RolloutGuard& rollout_guard, WallTime now);

}  // namespace slipway::components
