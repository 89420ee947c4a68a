// Gates: what the cluster-version operator waits for after it has applied manifests, and what it reports meanwhile.
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

// The mode of the operator, from the history of ClusterVersion.
enum class Mode {
  initializing,  // no version is completed: the control plane first, then everything else at once
  updating,      // another version is completed: run level by run level
  reconciling,   // this version is completed
};
Mode mode_of(const Json& cluster_version, std::string_view version, std::string_view image);

// An object that has to be ready before the work counts as done.
struct Gate {
  kube::ResourceType type;
  std::string space;
  std::string name;
  std::vector<std::pair<std::string, std::string>> versions{};  // names and versions that a ClusterOperator has to report

  bool operator==(const Gate&) const = default;
};

// The gate of a manifest; nothing for kinds without a gate.
std::optional<Gate> gate_of(const Json& manifest);

// A gate that is not met, and why.
struct UnmetGate {
  enum class Kind { missing, not_available, degraded, other_version, rolling_out };
  std::string object;  // "ClusterOperator etcd"
  std::string name;    // "etcd"
  Kind kind;
  std::string text;  // "not Available: 1 of 3 nodes at revision 1"

  bool operator==(const UnmetGate&) const = default;
};

// The requirements depend on the mode. Pure.
//
//   initializing  ClusterOperators are Available
//   updating      ClusterOperators are Available, not Degraded and report their versions; workloads are rolled out
//   reconciling   ClusterOperators are Available and not Degraded
std::vector<UnmetGate> unmet_gates(const std::vector<Gate>& gates, Mode mode, const Snapshot& seen);

// Whether none of these ClusterOperators is Progressing. Pure.
bool at_rest(const std::vector<Gate>& gates, const Snapshot& seen);

// "ClusterOperator etcd: not Available: ...; ClusterOperator dns: does not exist; and 4 more"; empty when all gates are met.
std::string to_text(const std::vector<UnmetGate>& unmet_gates);

// How long a gate may be unmet before that is a failure. Some operators get more time.
Milliseconds time_limit(const UnmetGate& gate);

// The failure to report: the first gate that is unmet for longer than its time limit.
//
//   since  when each gate (UnmetGate::object) became unmet
struct OverdueGate {
  std::optional<std::string> reason{};  // "ClusterOperatorNotAvailable"; nothing: no gate is overdue
  std::string message{};                // "ClusterOperator etcd: not Available: ... for more than 30 min 0 s"
  std::optional<SteadyTime> again{};    // when the next gate becomes overdue
};
OverdueGate find_overdue(const std::vector<UnmetGate>& unmet_gates, const std::map<std::string, SteadyTime>& since,
                         SteadyTime now);

}  // namespace slipway::components::cluster_version
