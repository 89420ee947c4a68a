// What the state machines need to know, from what the service knows. Pure.
#pragma once

#include "assist/cluster_states.h"
#include "assist/host_states.h"
#include "assist/model.h"
#include "assist/validations.h"

#include <optional>
#include <vector>

namespace slipway::assist {

// Without is_same_boot, which only a registration knows.
HostFacts host_facts(const HostScene& scene, const std::vector<Validation>& validations, bool stops_at_limits);

// What a cluster's preparation and its own controller have said.
struct InstallationReports {
  bool assets_are_made = false;
  bool assets_failed = false;
  bool operators_are_available = false;
  bool controller_failed = false;
  WallTime preparation_began{};
  WallTime installation_began{};
  WallTime finalizing_began{};
};

ClusterFacts cluster_facts(const Cluster& cluster, const std::vector<const Host*>& hosts,
                           const std::vector<Validation>& validations, const InstallationReports& reports, WallTime now,
                           bool stops_at_limits);

// The earliest time after now at which a limit passes, so that the state machines look again; nullopt if no limit runs.
std::optional<WallTime> next_limit(const HostScene& scene);
std::optional<WallTime> next_limit(const Cluster& cluster, const InstallationReports& reports, WallTime now);

// How a host is installed.
Placement placement_of(const Host& host, const Cluster& cluster);

}  // namespace slipway::assist
