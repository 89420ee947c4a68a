// certificate-recovery: gives a control plane its certificates back that were over when its machines came on again. The operators
// that keep them cannot do that: they speak to the API by names whose certificates are over, in pods of kubelets whose
// certificates are over (docs/decisions/0011-certificates-that-slept.md). It runs on the masters as a static pod as long as
// slipway-node wants it to, with the kubeconfig for repairs, whose server certificate and token last for years.
#pragma once

#include "components/program/program.h"
#include "components/static_pod/static_pod_operator.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace slipway::components::certificate_recovery {

// Makes a client; called again when the server refuses us.
using Connect = std::function<Result<std::shared_ptr<kube::Api>>()>;

// What it consists of, which are parts of other components.
struct Parts {
  // Whose certificates it keeps: the operators of the API server, the controller manager and the scheduler, as for a release of
  // that version. Certificates of etcd last for five years, and without them there is no API to repair anything by.
  std::vector<StaticPodOperator> (*operators)(const std::string& version);
  // The installer: puts certificates onto the disk of this node.
  Result<> (*install)(const sys::Context& context, const Connect& connect, sys::Files& files, const std::string& root,
                      const std::string& node);
  // The approver: lets kubelets in that come back.
  Result<> (*approve)(const sys::Context& context, kube::Api& api);
};

// What the operator wishes for, but only certificates and bundles of authorities: no pods, no configs, no revisions, no status.
// errors: those of the operator's target
Result<Plan> plan_recovery(const StaticPodOperator& work, const Snapshot& seen, WallTime now);

// The command `start --kubeconfig=FILE [--root=FOLDER]`; NODE_NAME and OPERATOR_IMAGE_VERSION are in the environment. Installs on
// this node; on one master at a time, by a Lease, makes what is over anew, and approves.
//
//   errors  invalid: flags, environment; those of reconcile and of the parts
//   time    until a stop, which is success
Result<> run_start(const Environment& environment, const Arguments& arguments, const Parts& parts);

}  // namespace slipway::components::certificate_recovery
