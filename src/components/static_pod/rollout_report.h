// What a rollout reports: Events and conditions. Pure.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/reconcile.h"
#include "components/static_pod/node_state.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

// True while the rollout waits for a pod. Its lastTransitionTime is the start of the wait.
inline constexpr std::string_view missing_pod = "MissingStaticPodControllerDegraded";

struct RolloutProgress {
  const Operand& operand;
  const Json& settings;
  const std::vector<NodeState>& nodes;      // after the decisions of this plan
  int latest = 0;                           // newest complete revision; 0: none
  int published_before = 0;                 // status.latestAvailableRevision as read
  int published = 0;                        // and after this plan
  const std::vector<std::string>& missing;  // why there can be no new revision
  std::string hold_reason{};                // why no other node gets the latest revision now; empty: no reason
};

std::size_t count_at_latest(const RolloutProgress& progress);

std::vector<Notice> rollout_notices(const RolloutProgress& progress);

std::vector<Condition> rollout_conditions(const RolloutProgress& progress);

}  // namespace slipway::components
