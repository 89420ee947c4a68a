// The hand-over, between the first answer of the temporary API server and its end: creates manifests, waits for the control plane
// of the masters, and creates the Events bootstrap-success and bootstrap-finished.
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

struct HandOver {
  kube::Api& api;             // the temporary API server
  kube::Api& api_afterwards;  // where the API is once that is gone
  const BootstrapOptions& options;
  std::vector<kube::Manifest> manifests;
  int needed_masters = 0;  // of which each has the revisions of its operators before the temporary control plane may go
  // Takes the temporary control plane away, given its API server; called once at most, also early.
  std::function<Result<>(kube::Api&)> tear_down;
};

// Two, for while one of them goes away the other serves; one where there is one only. None where this machine becomes the control
// plane itself: its pods take the places of the temporary ones, and cannot be there beside them.
int needed_masters(const InstallConfig& config);

// Creates the manifests and waits, at the same time, for the required pods; then for the needed masters, which run each
// operator's first revision, and for etcd, which must run without the member of this machine before the API server here may go;
// then the event bootstrap-success, the rest of the manifests, bootstrap-finished, and the tear-down.
//
//   errors  timeout: what was missing; invalid, denied: manifests that the server refuses; cancelled; those of tear_down
//   time    20 minutes for the pods, 30 for the revisions, options.create_limit for what is not created then
Result<> hand_over(const sys::Context& context, const HandOver& work);

}  // namespace slipway::components::cluster_bootstrap
