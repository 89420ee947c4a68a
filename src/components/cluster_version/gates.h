// What the cluster-version operator waits for after it applied manifests, and what it reports meanwhile.
#pragma once

#include "base/json.h"
#include "base/time.h"
#include "components/controller/view.h"
#include "kube/types.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::components::cluster_version {

// What the history of ClusterVersion makes of the work.
enum class Mode {
  initializing,  // no version was ever complete: the control plane, then everything else at once
  updating,      // another one was: run level after run level
  reconciling,   // this one was: it is kept
};
Mode mode_of(const Json& cluster_version, std::string_view version, std::string_view image);

// An object that has to be well before the work counts as done.
struct Gate {
  kube::ResourceType type;
  std::string space;
  std::string name;
  std::vector<std::pair<std::string, std::string>> versions{};  // of a ClusterOperator: what it must have reached

  bool operator==(const Gate&) const = default;
};

// The gate of a manifest; nothing for kinds that are only applied.
std::optional<Gate> gate_of(const Json& manifest);

// What a gate lacks.
struct UnmetGate {
  enum class Kind { missing, not_available, degraded, other_version, rolling_out };
  std::string object;  // "ClusterOperator etcd"
  std::string name;    // "etcd"
  Kind kind;
  std::string text;  // "not Available: 1 of 3 nodes at revision 1"

  bool operator==(const UnmetGate&) const = default;
};

// While initializing a ClusterOperator has to be Available and nothing else is asked for. Afterwards it must also not be
// Degraded; while updating it must have the versions of its manifest, and Deployments and DaemonSets must be rolled out. Pure.
std::vector<UnmetGate> unmet_gates(const std::vector<Gate>& gates, Mode mode, const Snapshot& seen);

// Whether no ClusterOperator of them says that it has work left (Progressing). Pure.
bool at_rest(const std::vector<Gate>& gates, const Snapshot& seen);

// "ClusterOperator etcd: not Available: ...; ClusterOperator dns: there is none; and 4 more"; empty without any.
std::string to_text(const std::vector<UnmetGate>& unmet_gates);

// How long something may lack before it counts as a failure: operators may take their time, and some take longer.
Milliseconds patience_with(const UnmetGate& lack);

// The failure to be told: the first lack that lasts longer than one may wait for it.
//
//   since  when each object (Lack::object) began to lack something
struct Slowness {
  std::optional<std::string> reason{};  // "ClusterOperatorNotAvailable"
  std::string message{};                // "ClusterOperator etcd: not Available: ...; this lasts for 31 min 0 s"
  std::optional<SteadyTime> again{};    // when the next one becomes a failure
};
Slowness too_slow(const std::vector<UnmetGate>& unmet_gates, const std::map<std::string, SteadyTime>& since, SteadyTime now);

}  // namespace slipway::components::cluster_version
