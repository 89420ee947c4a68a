#include "components/cluster_bootstrap/required_pods.h"

#include "base/text.h"
#include "kube/client.h"
#include "kube/conditions.h"

#include <algorithm>

namespace slipway::components::cluster_bootstrap {

namespace {

// Guard pods reserve a place on a node. Their readiness says nothing about the pods that they guard.
bool matches(std::string_view key, const RequiredPod& item) {
  return std::ranges::any_of(item.prefixes, [&](const std::string& prefix) {
    return key.starts_with(prefix) && !key.substr(prefix.size()).starts_with("-guard-");
  });
}

PodState state_of(const Json& pod) {
  const std::string_view phase = find_string(pod, {"status", "phase"}).value_or("");
  if (phase != "Running") return PodState::pending;
  return kube::condition_status(pod, "Ready") == "True" ? PodState::ready : PodState::running_not_ready;
}

}  // namespace

std::string_view to_string(PodState state) {
  switch (state) {
    case PodState::does_not_exist: return "DoesNotExist";
    case PodState::pending: return "Pending";
    case PodState::running_not_ready: return "RunningNotReady";
    case PodState::ready: return "Ready";
  }
  return "";
}

Result<std::vector<RequiredPod>> parse_required_pods(std::string_view text) {
  std::vector<RequiredPod> required;
  if (text.empty()) return required;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t colon = item.find(':');
    const bool is_described = colon != std::string_view::npos;
    RequiredPod pod{.description = std::string(item.substr(0, colon)), .prefixes = {}};
    for (const std::string_view prefix : split(is_described ? item.substr(colon + 1) : item, '|')) {
      const std::size_t slash = prefix.find('/');
      if (slash == 0 || slash == std::string_view::npos || slash + 1 == prefix.size()) {
        return error(Code::invalid, "'{}' is not NAMESPACE/NAME", prefix);
      }
      pod.prefixes.emplace_back(prefix);
    }
    required.push_back(std::move(pod));
  }
  return required;
}

std::vector<PodState> pod_states(const std::vector<RequiredPod>& required, const std::vector<Json>& pods) {
  std::vector<PodState> states(required.size(), PodState::does_not_exist);
  for (const Json& pod : pods) {
    const std::string key = fmt::format("{}/{}", kube::namespace_of(pod), kube::name_of(pod));
    for (std::size_t i = 0; i < required.size(); ++i) {
      if (matches(key, required[i])) states[i] = std::max(states[i], state_of(pod));
    }
  }
  return states;
}

std::string not_ready(const std::vector<RequiredPod>& required, const std::vector<PodState>& states) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < required.size(); ++i) {
    if (states[i] != PodState::ready) items.push_back(fmt::format("{}: {}", required[i].description, to_string(states[i])));
  }
  return join(items, ", ");
}

}  // namespace slipway::components::cluster_bootstrap
