// openshift-router start: serves the Routes of the cluster with haproxy, and writes their status. Several routers of one name
// serve the same Routes; each writes only what differs.
#pragma once

#include "components/program/program.h"

namespace slipway::components::router {

// The command `openshift-router start [--kubeconfig=FILE] [--working-dir=FOLDER]`; the rest is in the environment (options.h).
// FOLDER is emptied, and gets the keys of routes: have it in memory. Answers /healthz and /healthz/ready on STATS_PORT of all
// addresses. Told to stop it is not ready any more, goes on for ROUTER_GRACEFUL_SHUTDOWN_DELAY (5s), then takes no more
// connections and ends when there are none, after ROUTER_DRAIN_LIMIT (30s) at the latest. When haproxy dies another is started.
//
//   errors  invalid: flags, variables; conflict: STATS_PORT is taken; those of kube_access
Result<> run_start(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::router
