// Which Routes are served, and what their status says about it. Pure.
#pragma once

#include "components/controller/reconcile.h"
#include "components/router/route.h"

#include <string>
#include <utility>
#include <vector>

namespace slipway::components::router {

// What admission depends on besides the cluster.
struct AdmissionContext {
  bool has_service_ca = false;
  // Routes that haproxy does not take, as they were then, and what it says.
  std::vector<std::pair<Route, std::string>> left_out{};

  bool operator==(const AdmissionContext&) const = default;
};

struct Verdict {
  const Json* object;  // the Route, as long as the snapshot
  std::string host;
  bool is_admitted = false;
  std::string reason{}, message{};  // an admitted one may have a message too
};

struct Admission {
  std::vector<Route> routes;      // admitted, oldest first
  std::vector<Verdict> verdicts;  // of all
};

// The oldest route of a host and path has it. A host belongs to the namespace of its oldest route (HostAlreadyClaimed), unless
// namespaces share hosts.
Admission admit(const Snapshot& seen, const Options& options, const AdmissionContext& admission_context);

// Writes what differs but for times, so that several routers of one name agree after one write. Entries of others stay.
Plan plan_statuses(const Admission& admission, const Options& options, WallTime now);

}  // namespace slipway::components::router
