// slipway-node report-progress: reports in the cluster that the bootstrap is complete. wait-for bootstrap-complete waits for it.
#pragma once

#include "kube/client.h"
#include "node/program.h"

namespace slipway::node {

// report-progress KUBECONFIG
//
// Waits for /opt/openshift/.bootkube.done; in a cluster with a highly available control plane then for two API servers among
// the endpoints of default/kubernetes, so that nobody removes the bootstrap machine while one alone would remain; then creates
// ConfigMap kube-system/bootstrap with status=complete.
//
//   errors  invalid: arguments, the kubeconfig; denied
//   time    until all that is true
Result<> run_report_progress(const Environment& environment, const Arguments& arguments);

// What comes after the file, with an API of the caller's.
Result<> report_bootstrap_complete(const Environment& environment, kube::Api& api);

}  // namespace slipway::node
