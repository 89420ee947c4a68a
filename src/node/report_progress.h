// slipway-node report-progress: reports in the cluster that the bootstrap is complete. wait-for bootstrap-complete waits for it.
#pragma once

#include "kube/client.h"
#include "node/program.h"

namespace slipway::node {

// report-progress KUBECONFIG
//
// Waits for /opt/openshift/.bootkube.done. If the control plane is highly available, then waits for two API servers in the
// endpoints of default/kubernetes, so that the bootstrap machine is not removed while only one would remain. Then creates
// ConfigMap kube-system/bootstrap with status=complete.
//
//   errors  invalid: arguments, the kubeconfig; denied
//   time    until all conditions hold
Result<> run_report_progress(const Environment& environment, const Arguments& arguments);

// The steps after the file exists, with another API.
Result<> report_bootstrap_complete(const Environment& environment, kube::Api& api);

}  // namespace slipway::node
