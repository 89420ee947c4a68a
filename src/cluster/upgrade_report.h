// What a ClusterVersion says about an update, for users. Pure.
#pragma once

#include "base/json.h"

#include <string>
#include <vector>

namespace slipway::cluster {

// The text of `slipway upgrade`: the facts, order and words of `oc adm upgrade`.
//
//   Failing=True:
//
//     Reason: ClusterOperatorNotAvailable
//     Message: Cluster operator dns is not available
//
//   info: An upgrade is in progress. Working towards 0.1.1: 42 of 131 done (32% complete)
//   ...
std::string upgrade_report(const Json& cluster_version);

// What `slipway upgrade status` adds: a table of the MachineConfigPools with what they wait for, and the ClusterOperators that
// have not reached the desired version.
std::string upgrade_details(const Json& cluster_version, const std::vector<Json>& pools, const std::vector<Json>& operators);

// "ClusterOperatorNotAvailable: Cluster operator dns is not available", from a condition of an object; empty if there is none.
std::string reason_and_message(const Json& object, std::string_view type);

}  // namespace slipway::cluster
