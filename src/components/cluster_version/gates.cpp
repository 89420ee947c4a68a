#include "components/cluster_version/gates.h"

#include "base/text.h"
#include "components/workload/workload.h"
#include "kube/client.h"
#include "kube/conditions.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace slipway::components::cluster_version {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_listed = 3;

// Time limits of ClusterOperators before ClusterVersion reports Failing, as in OpenShift: the default, for a Degraded one, and
// for
// single operators by name.
constexpr Milliseconds default_limit = 30min;
constexpr Milliseconds degraded_limit = 40min;
constexpr std::array<std::pair<std::string_view, Milliseconds>, 1> limits_by_name = {{{"machine-config", 90min}}};

// ": " and the message of a condition; empty when it has no message.
std::string message_of(const Json& object, std::string_view type) {
  const std::string_view message = kube::condition_text(object, type, "message");
  return message.empty() ? "" : fmt::format(": {}", message);
}

using Problem = std::optional<std::pair<UnmetGate::Kind, std::string>>;

Problem operator_problem(const Gate& gate, Mode mode, const Json& live) {
  if (kube::condition_status(live, "Available") != "True") {
    return std::pair(UnmetGate::Kind::not_available, "not Available" + message_of(live, "Available"));
  }
  if (mode == Mode::initializing) return {};
  if (kube::condition_status(live, "Degraded") == "True") {
    return std::pair(UnmetGate::Kind::degraded, "Degraded" + message_of(live, "Degraded"));
  }
  if (mode == Mode::reconciling) return {};
  const JsonArray& reached = find_array(live, {"status", "versions"});
  for (const auto& [name, version] : gate.versions) {
    const auto same_name = [&name = name](const Json& each) { return find_string(each, {"name"}) == name; };
    const Json* found = std::ranges::find_if(reached, same_name);
    const std::string_view has = found == reached.end() ? "" : find_string(*found, {"version"}).value_or("");
    if (has == version) continue;
    return std::pair(UnmetGate::Kind::other_version, fmt::format("version {} of {} is not reached{}", version, name,
                                                                 has.empty() ? "" : fmt::format(", has {}", has)));
  }
  return {};
}

Problem rollout_problem(Mode mode, const Json& live) {
  if (mode != Mode::updating) return {};
  std::optional<std::string> text = not_rolled_out(live);
  if (!text) return {};
  return std::pair(UnmetGate::Kind::rolling_out, *std::move(text));
}

bool is_operator(const Gate& gate) { return gate.type == kube::types::cluster_operators; }

std::string_view reason_of(UnmetGate::Kind kind) {
  switch (kind) {
    case UnmetGate::Kind::missing: return "ClusterOperatorMissing";
    case UnmetGate::Kind::not_available: return "ClusterOperatorNotAvailable";
    case UnmetGate::Kind::degraded: return "ClusterOperatorDegraded";
    case UnmetGate::Kind::other_version: return "ClusterOperatorUpdating";
    case UnmetGate::Kind::rolling_out: return "WorkloadNotAvailable";
  }
  return "";
}

}  // namespace

Mode mode_of(const Json& cluster_version, std::string_view version, std::string_view image) {
  const JsonArray& history = find_array(cluster_version, {"status", "history"});
  const auto is_completed = [](const Json& entry) { return find_string(entry, {"state"}) == "Completed"; };
  if (!std::ranges::any_of(history, is_completed)) return Mode::initializing;
  const Json& newest = history.front();
  const bool is_this = find_string(newest, {"version"}) == version && find_string(newest, {"image"}) == image;
  return is_this && is_completed(newest) ? Mode::reconciling : Mode::updating;
}

std::optional<Gate> gate_of(const Json& manifest) {
  for (const kube::ResourceType& type : {kube::types::cluster_operators, kube::types::deployments, kube::types::daemon_sets}) {
    if (find_string(manifest, {"kind"}) != type.kind || find_string(manifest, {"apiVersion"}) != type.api_version()) continue;
    Gate gate{type, std::string(kube::namespace_of(manifest)), std::string(kube::name_of(manifest))};
    if (!is_operator(gate)) return gate;
    for (const Json& version : find_array(manifest, {"status", "versions"})) {
      gate.versions.emplace_back(find_string(version, {"name"}).value_or(""), find_string(version, {"version"}).value_or(""));
    }
    return gate;
  }
  return {};
}

std::vector<UnmetGate> unmet_gates(const std::vector<Gate>& gates, Mode mode, const Snapshot& seen) {
  std::vector<UnmetGate> found;
  for (const Gate& gate : gates) {
    if (!is_operator(gate) && mode != Mode::updating) continue;
    const std::string object = gate.space.empty() ? fmt::format("{} {}", gate.type.kind, gate.name)
                                                  : fmt::format("{} {}/{}", gate.type.kind, gate.space, gate.name);
    const Json* live = seen.find(gate.type, gate.space, gate.name);
    Problem what = std::pair(UnmetGate::Kind::missing, std::string("does not exist"));
    if (live) what = is_operator(gate) ? operator_problem(gate, mode, *live) : rollout_problem(mode, *live);
    if (what) found.push_back({object, gate.name, what->first, std::move(what->second)});
  }
  return found;
}

bool at_rest(const std::vector<Gate>& gates, const Snapshot& seen) {
  return std::ranges::none_of(gates, [&](const Gate& gate) {
    const Json* live = is_operator(gate) ? seen.find(gate.type, gate.space, gate.name) : nullptr;
    return live && kube::condition_status(*live, "Progressing") == "True";
  });
}

std::string to_text(const std::vector<UnmetGate>& unmet_gates) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(unmet_gates.size(), max_listed); ++i) {
    parts.push_back(fmt::format("{}: {}", unmet_gates[i].object, unmet_gates[i].text));
  }
  if (unmet_gates.size() > max_listed) parts.push_back(fmt::format("and {} more", unmet_gates.size() - max_listed));
  return join(parts, "; ");
}

Milliseconds time_limit(const UnmetGate& gate) {
  for (const auto& [name, longer] : limits_by_name) {
    if (gate.name == name) return longer;
  }
  return gate.kind == UnmetGate::Kind::degraded ? degraded_limit : default_limit;
}

OverdueGate find_overdue(const std::vector<UnmetGate>& unmet_gates, const std::map<std::string, SteadyTime>& since,
                         SteadyTime now) {
  OverdueGate overdue;
  for (const UnmetGate& gate : unmet_gates) {
    const auto begun = since.find(gate.object);
    if (begun == since.end()) continue;
    const SteadyTime end = begun->second + time_limit(gate);
    if (now < end) {
      overdue.again = std::min(end, overdue.again.value_or(end));
    } else if (!overdue.reason) {
      overdue.reason = reason_of(gate.kind);
      overdue.message = fmt::format("{}: {} for more than {}", gate.object, gate.text, human_duration(time_limit(gate)));
    }
  }
  return overdue;
}

}  // namespace slipway::components::cluster_version
