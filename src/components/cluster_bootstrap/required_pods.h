// The pods that must be ready on the masters before the temporary control plane may end.
//
// Upstream checks one matching pod of an unordered list, and also guard pods. Here any matching pod counts that is not a guard.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::cluster_bootstrap {

// One item of --required-pods: "NAMESPACE/PREFIX", or "DESCRIPTION:NAMESPACE/PREFIX|NAMESPACE/PREFIX".
struct RequiredPod {
  std::string description;            // the item itself if it has no description
  std::vector<std::string> prefixes;  // prefixes of "namespace/name"

  bool operator==(const RequiredPod&) const = default;
};

// Parses a list with commas; an empty text is an empty list. errors: invalid: an item without a namespace
Result<std::vector<RequiredPod>> parse_required_pods(std::string_view text);

// In the order of a pod's start.
enum class PodState { does_not_exist, pending, running_not_ready, ready };

std::string_view to_string(PodState state);

// The best state of each item's pods. Pure.
std::vector<PodState> pod_states(const std::vector<RequiredPod>& required, const std::vector<Json>& pods);

// "openshift-kube-apiserver/kube-apiserver: Pending, ...": the items that are not ready. Empty if all are.
std::string not_ready(const std::vector<RequiredPod>& required, const std::vector<PodState>& states);

}  // namespace slipway::components::cluster_bootstrap
