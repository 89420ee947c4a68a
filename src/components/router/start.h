// openshift-router start: serves the Routes of the cluster with haproxy, and writes their status. Several routers of one name
// serve the same Routes; each writes only statuses that differ.
#pragma once

#include "components/program/program.h"

namespace slipway::components::router {

// The command `openshift-router start [--kubeconfig=FILE] [--working-dir=FOLDER]`; environment variables have the other options
// (options.h). The command deletes the content of FOLDER and writes the keys of routes there, so FOLDER should be in memory. It
// answers /healthz and /healthz/ready on STATS_PORT of all addresses. When haproxy ends, it starts another one.
//
// After a stop request it reports "not ready" and serves for ROUTER_GRACEFUL_SHUTDOWN_DELAY (5s). Then it accepts no more
// connections, and ends when all connections have ended that are still of use (sessions.h), at the latest after
// ROUTER_DRAIN_LIMIT (30s).
//
//   errors  invalid: flags, variables; conflict: STATS_PORT is in use; those of kube_access
Result<> run_start(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::router
