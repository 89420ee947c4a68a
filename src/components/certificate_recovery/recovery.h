// certificate-recovery: renews certificates of the control plane that expired while its machines were off. The operators cannot
// renew them then: the serving certificates of the API and the certificates of the kubelets have expired, too
// (docs/decisions/0011-certificates-that-slept.md). It runs on the masters as a static pod while slipway-node requires it, with
// the
// kubeconfig for repairs, whose server certificate and token are valid for years.
#pragma once

#include "components/program/program.h"
#include "components/static_pod/static_pod_operator.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace slipway::components::certificate_recovery {

// Creates an API client; called again when the API server rejects the credentials.
using Connect = std::function<Result<std::shared_ptr<kube::Api>>()>;

// Functions of other components.
struct Parts {
  // The operators whose certificates are renewed: API server, controller manager and scheduler, for a release of that version.
  // etcd
  // is not one of them: its certificates are valid for five years, and without them the API needed for repairs does not work.
  std::vector<StaticPodOperator> (*operators)(const std::string& version);
  // The installer: writes certificates to the disk of this node.
  Result<> (*install)(const sys::Context& context, const Connect& connect, sys::Files& files, const std::string& root,
                      const std::string& node);
  // The approver: approves certificate requests of returning kubelets.
  Result<> (*approve)(const sys::Context& context, kube::Api& api);
};

// The part of the operator's plan that has certificates and bundles of authorities: no pods, configs, revisions or status.
// errors: those of the operator's target
Result<Plan> plan_recovery(const StaticPodOperator& work, const Snapshot& seen, WallTime now);

// The command `start --kubeconfig=FILE [--root=FOLDER]`. Requires the environment variables NODE_NAME and OPERATOR_IMAGE_VERSION.
// Installs certificates on this node. On one master at a time, selected by a Lease, it renews expired certificates and approves
// certificate requests.
//
//   errors  invalid: flags, environment; those of reconcile and of the parts
//   time    until a stop is requested, which is success
Result<> run_start(const Environment& environment, const Arguments& arguments, const Parts& parts);

}  // namespace slipway::components::certificate_recovery
