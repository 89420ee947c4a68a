// NodeState: one master in a rollout: its entry in status.nodeStatuses, its node and its pod. Pure.
#pragma once

#include "components/controller/operand.h"
#include "components/controller/view.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

struct PodState {
  int revision = 0;  // 0: the pod does not exist
  bool is_ready = false;
  bool is_crash_looping = false;
  WallTime not_ready_since{};
  std::string problem{};  // "container etcd: CrashLoopBackOff"
};

struct NodeState {
  NodeStatus status;            // the rollout changes it
  NodeStatus before;            // as read
  bool is_new = false;          // has no entry in status.nodeStatuses yet
  bool is_unreachable = false;  // its kubelet does not report
  std::string problem{};        // of the node
  PodState pod{};

  bool is_at(int revision) const { return status.current == revision && status.target == 0; }
  bool has_failed(int revision) const { return status.last_failed == revision && status.current != revision; }
};

// The states of these nodes, in their order.
std::vector<NodeState> read_nodes(const Operand& operand, const Json& settings, const std::vector<const Json*>& masters,
                                  const Snapshot& seen, WallTime now);

// The pause before the next attempt: 10 s after the first failure, up to 10 min.
Milliseconds retry_pause(int failures);

// When the last failed revision of a node is tried again.
WallTime retry_time(const NodeStatus& status);

}  // namespace slipway::components
