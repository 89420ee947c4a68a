// The workload kit: the common part of the operators of network, DNS, ingress, credentials, configuration and machines. Each
// supplies a pure function that computes its objects. The kit writes them, becomes the leader by a Lease, and reports the
// progress in the ClusterOperator.
//
//   return run_workload_operator(environment, arguments, "dns-operator", make);
#pragma once

#include "base/template.h"
#include "components/controller/conditions.h"
#include "components/controller/operator_process.h"
#include "components/controller/reconcile.h"
#include "components/program/program.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::components {

// What an operator wants now, and what it reports about its operand.
struct DesiredState {
  Plan plan{};
  // Their types end in Available, Progressing, Degraded or Upgradeable: "DNSDegraded". The ClusterOperator summarizes them.
  // Without an Upgradeable condition it has none either.
  std::vector<Condition> conditions{};
};

struct WorkloadOperator {
  std::string name;                     // of the ClusterOperator: "dns"
  std::string space;                    // namespace of the operator and of its Lease PROGRAM-lock: "openshift-dns-operator"
  std::vector<Watched> watched;         // in addition to the ClusterOperator
  std::vector<std::string> operands{};  // names of more versions in the ClusterOperator, each that of the release: "coredns"
  std::function<Result<DesiredState>(const Snapshot& seen, WallTime now)> desired_state;
  // Runs in parallel with the plan while this process is the leader. May put facts into the view. Empty: none.
  std::function<Result<>(const sys::Context& context, kube::Api& api, View& view)> observer{};
  // Type of the settings object `cluster` with spec.managementState. Without that object, or if the state is Unmanaged or
  // Removed, the desired state is not computed and the ClusterOperator has status Unknown. Empty for an operator without
  // settings.
  std::optional<kube::ResourceType> settings{};
  // More types among `watched` whose settings without effect this operator reports: SettingsIgnored (unused_settings.h).
  std::vector<kube::ResourceType> configured_by{};
  // More operators in the same process and under the same Lease. Each has its own watches, plan and ClusterOperator. They save
  // pods; their account has the permissions of all of them.
  std::vector<WorkloadOperator> companions{};
};

// All watches of the operator without companions: `watched`, its settings, its ClusterOperator.
std::vector<Watched> watched_by(const WorkloadOperator& work);

// From the environment of the operator's Deployment. The names of image variables differ ("COREDNS_IMAGE"): environment_text.
struct ReleaseVersion {
  std::string version;  // RELEASE_VERSION
};

// The whole plan: the desired state, then the ClusterOperator. Pure if `desired_state` is. SyncDegraded is True while objects
// differ from what is wanted, and after an error of `desired_state`; after an error, existing objects and conditions stay. The
// versions of the ClusterOperator change when all objects are as wanted, everything is available and nothing is progressing. A
// Degraded condition counts after two minutes (conditions.h). The conditions with their times are stored in the extension of the
// ClusterOperator for the next leader.
Result<Plan> plan_workloads(const WorkloadOperator& work, const ReleaseVersion& release, const Snapshot& seen, WallTime now);

// Fills every template below a folder of data/components ("dns/manifests") (document.h). Objects may have the types of
// kube/types.h and a few more built-in types. errors: invalid: a placeholder without a value, invalid YAML, an unknown type
Result<std::vector<DesiredObject>> desired_objects_of_folder(std::string_view folder, const TemplateValues& values);

// The same for an object that was computed in code.
Result<DesiredObject> to_desired_object(Json object, DesiredObject::How how = DesiredObject::How::apply);

// The command `PROGRAM start|operator [--kubeconfig=FILE] [-v N]`: operator_process.h. RELEASE_VERSION must be set.
//
//   make    creates the operator
//   errors  those of `make`; invalid: flags, variables; unavailable: the Lease was lost; denied
Result<> run_workload_operator(const Environment& environment, const Arguments& arguments, std::string_view program,
                               const std::function<Result<WorkloadOperator>(const Environment&, const ReleaseVersion&)>& make);

}  // namespace slipway::components
