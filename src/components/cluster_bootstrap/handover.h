// The handover, from the first answer of the temporary API server to its end: creates manifests, waits for the control plane of
// the masters, and creates the Events bootstrap-success and bootstrap-finished.
#pragma once

#include "base/json.h"
#include "components/cluster_bootstrap/options.h"
#include "components/render/inputs.h"
#include "kube/client.h"
#include "kube/ensure.h"
#include "sys/context.h"

#include <functional>
#include <vector>

namespace slipway::components::cluster_bootstrap {

struct Handover {
  kube::Api& api;             // the temporary API server
  kube::Api& api_afterwards;  // the API after the temporary API server has ended
  const BootstrapOptions& options;
  std::vector<kube::Manifest> manifests;
  int needed_masters = 0;  // masters that need the revisions of their operators before the temporary control plane may end
  // Removes the temporary control plane, given its API server. Called at most once.
  std::function<Result<>(kube::Api&)> tear_down;
};

// Two, so that one serves while the other is not available; one if there is only one. Zero if this machine becomes the control
// plane itself: its pods replace the temporary ones and cannot run at the same time.
int needed_masters(const InstallConfig& config);

// Creates the manifests and waits for the required pods at the same time. Then waits until enough masters run the first revision
// of each operator, and until etcd can run without the member of this machine. Then creates the Event bootstrap-success, the
// remaining manifests and the Event bootstrap-finished. The tear-down follows bootstrap-success (tear_down_early) or
// bootstrap-finished.
//
//   errors  timeout, with what was missing; invalid, denied: the server refuses manifests; cancelled; those of tear_down
//   time    options.pods_limit for the pods, 30 minutes for the revisions, options.create_limit for the remaining manifests
Result<> run_handover(const sys::Context& context, const Handover& work);

}  // namespace slipway::components::cluster_bootstrap
