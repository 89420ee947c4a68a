// Machine config pools: their nodes, the progress of the nodes, and which nodes get another config next. Pure.
#pragma once

#include "components/controller/reconcile.h"
#include "components/machine_config_operator/os_build_controller.h"
#include "components/machine_config_operator/render_controller.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

// An object in the view of this process only: why a node is not drained yet (drain.h). Its name is that of the node; `message`
// has
// the reason.
inline const kube::ResourceType node_drains{std::string(kube::private_domain), "v1", "nodedrains", "NodeDrain", false};

// Reason of condition Updated while the image for the config of a pool does not exist.
inline constexpr const char* waits_for_image_reason = "WaitingForImage";

// A node and its state for pools. Valid as long as the snapshot.
struct PoolNode {
  const Json* object = nullptr;
  std::string name{};
  std::string pool{};  // name of its pool; empty: none
  std::string zone{};
  std::string created{};
  // Annotations of the daemon and the controller.
  std::string current{}, desired{}, state{}, reason{};
  std::string current_image{}, desired_image{};  // empty: that of the config
  std::string coming{}, coming_image{};          // announced
  std::string drain{};                           // why it is not drained yet; empty: it is not being drained
  bool is_master = false;
  bool is_ready = false;
  bool is_cordoned = false;
  bool waits_for_drain = false;  // its daemon requested a drain and has not changed the node yet

  bool is_failing() const;
  // Whether it is Ready, schedulable and up to date.
  bool is_available() const;
};

// All nodes with their pools. A node with the role master belongs only to pool master. A custom pool takes precedence over
// worker.
// A node that two custom pools select belongs to none; that adds a notice.
std::vector<PoolNode> pool_nodes(const Snapshot& seen, std::vector<Notice>& notices);

// How many nodes of a pool may be unavailable: spec.maxUnavailable, a number or a percentage that is rounded down, at least 1.
// For
// masters it is always 1.
int max_unavailable(const Json& pool, int nodes);

// A change of a node: a merge patch that the API server accepts only while the node has the version that was read.
struct NodeChange {
  std::string node;
  Json patch;
  std::string task_name;  // for log lines: "setting the config of worker-0 to rendered-worker-2"
};

struct PoolsPlan {
  Plan plan{};  // status of pools, notices
  std::vector<NodeChange> changes{};
};

// Sets spec.configuration of the pool as desired config of its nodes. In image mode (`images` has the pool) it sets the image of
// that config in the same patch; without image mode it removes the image. A pool whose image does not exist yet keeps its nodes
// as they are.
//
// - The next node gets it while fewer than maxUnavailable nodes of the pool are unavailable. Order: zone, then oldest first.
// - A node that failed to apply its config, or that waits for its drain, gets the new config at once.
// - Masters get it one at a time, only while all of them are Ready, have their config, and run etcd and an API server. The master
//   that runs this program is last.
// - As many nodes as may be unavailable, those whose turn comes next, have an announcement of what they will get: they fetch the
//   image while others restart.
// - Nothing changes in a paused pool, or before the bootstrap is complete: until then MachineConfigs of users may be missing.
//
//   renders   results of rendering, by pool
//   images    pools in image mode
//   own_node  name of the node that this program runs on
PoolsPlan plan_pools(const Snapshot& seen, const std::map<std::string, PoolRender, std::less<>>& renders,
                     const PoolImages& images, std::string_view own_node, WallTime now);

// Applies spec.mastersSchedulable of Scheduler cluster to masters: adds or removes the label of workers and the taint.
std::vector<NodeChange> plan_schedulable_masters(const Snapshot& seen);

// A MachineConfigNode for every node in a pool: its desired and current config and its conditions.
std::vector<DesiredObject> machine_config_nodes(const std::vector<PoolNode>& nodes, const Snapshot& seen, WallTime now);

}  // namespace slipway::components::machine_config_operator
