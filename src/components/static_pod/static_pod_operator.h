// The static-pod kit: the common part of the operators of etcd, kube-apiserver, kube-controller-manager and kube-scheduler. Each
// operator supplies the table of its operand and a pure function that computes the operand's objects. The kit creates revisions
// of them, rolls them out through the installers on the nodes, and reports the progress.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/operand.h"
#include "components/controller/reconcile.h"
#include "components/program/program.h"
#include "components/static_pod/rollout.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::components {

// The operator's part of a plan.
struct Target {
  Plan plan{};                          // the operator's own objects and tasks
  std::vector<Condition> conditions{};  // added to the kit's
  std::vector<std::string> missing{};   // inputs that a revision needs, "Secret a/b"; while there are any, no revision begins
};

// Environment variables of the operator's Deployment.
struct OperatorVariables {
  std::string image;            // IMAGE: of the operand
  std::string operator_image;   // OPERATOR_IMAGE
  std::string version;          // OPERATOR_IMAGE_VERSION
  std::string operand_version;  // OPERAND_IMAGE_VERSION
};

struct StaticPodOperator {
  Operand operand;
  // In addition to the kit's: settings, nodes, the machine table, pods of the operand, ConfigMaps and Secrets of its two
  // namespaces, the ClusterOperator.
  std::vector<Watched> watched;
  std::function<Result<Target>(const Snapshot& seen, const Json& settings, WallTime now)> target;
  RolloutGuard rollout_guard{};
  // Runs in parallel with the plan and puts facts into the view (etcd's members). Empty: none.
  std::function<Result<>(const sys::Context& context, View& view)> observer{};
};

// All watches of the kit and of the operator.
std::vector<Watched> watched_by(const StaticPodOperator& work);

// The whole plan: target, then revisions, then rollout, then conditions and the ClusterOperator. Pure if `target` is.
// No revision begins while `target` still changes parts, so that parts that change together form one revision. An error of
// `target` sets the condition TargetConfigControllerDegraded; the current rollout stays. Without the settings, or if
// spec.managementState is neither Managed nor Force, only the ClusterOperator is planned, with status Unknown.
Result<Plan> plan_static_pods(const StaticPodOperator& work, const OperatorVariables& variables, const Snapshot& seen,
                              WallTime now);

// Reads the environment of this program. errors: invalid: a variable is not set
Result<OperatorVariables> operator_variables();

// The command `OPERATOR operator [--kubeconfig=FILE] [--config=FILE]`: operator_process.h.
//
//   make    creates the operator; its observer may use `http`, which outlives it
//   errors  those of `make`; invalid: flags, variables; unavailable: the Lease was lost; denied
Result<> run_static_pod_operator(
    const Environment& environment, const Arguments& arguments, std::string_view program,
    const std::function<Result<StaticPodOperator>(const Environment&, const OperatorVariables&)>& make);

}  // namespace slipway::components
