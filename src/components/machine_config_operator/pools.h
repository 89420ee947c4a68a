// Pools of machines: which nodes are in them, how far these are, and which of them get another config next. Pure.
#pragma once

#include "components/controller/reconcile.h"
#include "components/machine_config_operator/render_controller.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

// A fact of this process, of no server: why a node that shall be emptied is not empty yet (drain.h). Named as the node;
// `message`.
inline const kube::ResourceType node_drains{std::string(kube::private_domain), "v1", "nodedrains", "NodeDrain", false};

// A node as pools see it. Lives as long as the snapshot.
struct PoolNode {
  const Json* object = nullptr;
  std::string name{};
  std::string pool{};  // the pool that it belongs to; empty: none
  std::string zone{};
  std::string created{};
  // What the daemon and the controller wrote there.
  std::string current{}, desired{}, state{}, reason{};
  std::string drain{};  // why its pods have not left yet; empty when nobody waits for that
  bool is_master = false;
  bool is_ready = false;
  bool is_cordoned = false;
  bool waits_for_drain = false;  // it asked to be emptied, and nothing of it has changed yet

  bool is_failing() const;
  // Serves, and nothing is being done to it.
  bool is_available() const;
};

// All nodes with their pools. One with the role of a master belongs to no pool but master; a pool of users goes before worker; a
// node that two pools of users select is in none, and `notices` says so.
std::vector<PoolNode> pool_nodes(const Snapshot& seen, std::vector<Notice>& notices);

// How many nodes of a pool may be unavailable: spec.maxUnavailable, a number or a percentage rounded down, at least 1. Of masters
// never more than one, whatever it says.
int max_unavailable(const Json& pool, int nodes);

// A change of a node: a merge patch that the server takes only while the node is as it was seen.
struct NodeChange {
  std::string node;
  Json patch;
  std::string doing;  // "giving worker-0 its config", completes "... failed"
};

struct PoolsPlan {
  Plan plan{};  // status of pools, words for people
  std::vector<NodeChange> changes{};
};

// Gives nodes spec.configuration of their pool as their desired config. The next node gets it when fewer than maxUnavailable of
// the pool are not available; nodes that cannot reach the one that they shall have get a better one at once, for they do not
// serve anyway. By zone, then the oldest first. Of masters one at a time, only while all of them are Ready, have their config,
// and run etcd and API server; the one that runs this program last. Nothing happens in a paused pool, nor before the bootstrap is
// over, for until then MachineConfigs of users may still be missing.
//
//   renders   what rendering says of the pools
//   own_node  where this program runs
PoolsPlan plan_pools(const Snapshot& seen, const std::map<std::string, PoolRender, std::less<>>& renders,
                     std::string_view own_node, WallTime now);

// Masters take ordinary pods, or not: the label of workers and the taint, as Scheduler cluster says (spec.mastersSchedulable).
std::vector<NodeChange> plan_schedulable_masters(const Snapshot& seen);

// A MachineConfigNode for every node in a pool: what it shall have, has, and how that goes.
std::vector<DesiredObject> machine_config_nodes(const std::vector<PoolNode>& nodes, const Snapshot& seen, WallTime now);

}  // namespace slipway::components::machine_config_operator
