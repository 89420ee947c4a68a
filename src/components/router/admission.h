// Admits Routes: decides which Routes are served, and plans their status. Pure.
#pragma once

#include "components/controller/reconcile.h"
#include "components/router/route.h"

#include <string>
#include <utility>
#include <vector>

namespace slipway::components::router {

// Inputs of admission that are not objects of the cluster.
struct AdmissionContext {
  bool has_service_ca = false;
  // Routes that haproxy rejected, with its message. A route that has changed since then is no longer left out.
  std::vector<std::pair<Route, std::string>> left_out{};

  bool operator==(const AdmissionContext&) const = default;
};

struct Verdict {
  const Json* object;  // the Route; valid as long as the snapshot
  std::string host;
  bool is_admitted = false;
  std::string reason{}, message{};  // an admitted route may have a message too
};

struct Admission {
  std::vector<Route> routes;      // admitted, oldest first
  std::vector<Verdict> verdicts;  // of all routes
};

// The oldest route of a host and path is admitted. A host belongs to the namespace of its oldest route, unless namespaces share
// hosts; other routes get HostAlreadyClaimed.
Admission admit(const Snapshot& seen, const Options& options, const AdmissionContext& admission_context);

// Plans writes for statuses that differ, ignoring times. Several routers of one name therefore agree after one write. Entries of
// other routers stay.
Plan plan_statuses(const Admission& admission, const Options& options, WallTime now);

}  // namespace slipway::components::router
