// The static-pod kit: what the operators of etcd, the API server, the controller manager and the scheduler have in common. Each
// gives the table of its operand and a pure function that makes the operand's objects; the kit makes revisions of them, rolls
// them out through the installers on the nodes and reports its progress.
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

// The operator's share of a plan.
struct Target {
  Plan plan{};                          // objects and tasks of its own
  std::vector<Condition> conditions{};  // added to the kit's
  std::vector<std::string> missing{};   // inputs that a revision needs, "Secret a/b"; none is begun while there are any
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
  std::vector<Watched> watched;  // besides the kit's: settings, nodes, the machine table, pods of the operand, ConfigMaps and
                                 // Secrets of its two namespaces, the ClusterOperator
  std::function<Result<Target>(const Snapshot& seen, const Json& settings, WallTime now)> target;
  HoldBack hold_back{};
  // Runs beside the plan and puts facts into the view (etcd's members); none when empty.
  std::function<Result<>(const sys::Context& context, View& view)> observer{};
};

// What the kit and the operator look at.
std::vector<Watched> watched_by(const StaticPodOperator& work);

// The whole plan: target, then revisions, then roll-out, then conditions and ClusterOperator. Pure as far as `target` is.
// No revision is begun while `target` has wishes for parts that did not come true, so that what changes together is one revision.
// An error of `target` is the condition TargetConfigControllerDegraded; what is rolled out stays. Without the settings, or with
// spec.managementState other than Managed and Force: nothing but the ClusterOperator, which says Unknown.
Result<Plan> plan_static_pods(const StaticPodOperator& work, const OperatorVariables& variables, const Snapshot& seen,
                              WallTime now);

// From this program's environment. errors: invalid: variables are missing
Result<OperatorVariables> operator_variables();

// The command `OPERATOR operator [--kubeconfig=FILE] [--config=FILE]`: operator_process.h.
//
//   make    makes the operator; an observer of it may use `http`, which outlives it
//   errors  those of `make`; invalid: flags, variables; unavailable: the Lease was lost; denied
Result<> run_static_pod_operator(
    const Environment& environment, const Arguments& arguments, std::string_view program,
    const std::function<Result<StaticPodOperator>(const Environment&, const OperatorVariables&)>& make);

}  // namespace slipway::components
