// The pods that have to be ready on the masters before the temporary control plane may end.
//
// Upstream looks at one matching pod of an unordered list, and at guard pods too; here any matching pod that is no guard will do.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::cluster_bootstrap {

// One item of --required-pods: "NAMESPACE/PREFIX", or "DESCRIPTION:NAMESPACE/PREFIX|NAMESPACE/PREFIX".
struct RequiredPod {
  std::string description;            // the item itself when it has none
  std::vector<std::string> prefixes;  // of "namespace/name"

  bool operator==(const RequiredPod&) const = default;
};

// A list with commas; none for an empty text. errors: invalid: an item that names no namespace
Result<std::vector<RequiredPod>> parse_required_pods(std::string_view text);

// In the order in which a pod comes up.
enum class PodState { does_not_exist, pending, running_not_ready, ready };

std::string_view to_string(PodState state);

// The best state of the pods of each item. Pure.
std::vector<PodState> judge(const std::vector<RequiredPod>& required, const std::vector<Json>& pods);

// "openshift-kube-apiserver/kube-apiserver: Pending, ..." of the items that are not ready; empty when all are.
std::string not_ready(const std::vector<RequiredPod>& required, const std::vector<PodState>& states);

}  // namespace slipway::components::cluster_bootstrap
