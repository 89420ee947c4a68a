// Operators of workloads: what those of the network, names, ingress, credentials, configuration and machines have in common.
// Each gives a pure function that says how its objects shall be; the kit fulfils it, leads by a Lease, and tells the cluster in
// the ClusterOperator how far it is.
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

// What an operator wants now, and what it says of its operand.
struct DesiredState {
  Plan plan{};
  // Their types end in Available, Progressing, Degraded or Upgradeable: "DNSDegraded". The ClusterOperator is their union. It
  // says nothing of Upgradeable when none of them does.
  std::vector<Condition> conditions{};
};

struct WorkloadOperator {
  std::string name;                     // of the ClusterOperator: "dns"
  std::string space;                    // of the operator, and of its Lease PROGRAM-lock: "openshift-dns-operator"
  std::vector<Watched> watched;         // besides the ClusterOperator
  std::vector<std::string> operands{};  // names of further versions, each the release's: "coredns"
  std::function<Result<DesiredState>(const Snapshot& seen, WallTime now)> desired_state;
  // Runs beside the plan, while this process leads, and may put facts into the view; none when empty.
  std::function<Result<>(const sys::Context& context, kube::Api& api, View& view)> observer{};
  // Whose object `cluster` has spec.managementState. Without that object, and while it says Unmanaged or Removed, there is no
  // aim: the ClusterOperator says Unknown. An operator without such settings leaves it empty.
  std::optional<kube::ResourceType> settings{};
  // Further types among `watched` for whose settings without effect it answers: SettingsIgnored (unused_settings.h).
  std::vector<kube::ResourceType> configured_by{};
};

// What it looks at: `watched`, its settings, its ClusterOperator.
std::vector<Watched> watched_by(const WorkloadOperator& work);

// Of the environment of its Deployment. Images have names of their own there ("COREDNS_IMAGE"): environment_text.
struct ReleaseVersion {
  std::string version;  // RELEASE_VERSION
};

// The whole plan: the aim, then the ClusterOperator. Pure as far as `aim` is. SyncDegraded is true after an error of `aim`, when
// what is there and what was said of it stay, and while objects are not as wished. The versions of the ClusterOperator are told
// once all objects are as wished, everything is available and nothing is progressing: until then the ones before are true. What
// is Degraded for less than two minutes is not yet told (conditions.h); the conditions with their times are kept in the extension
// of the ClusterOperator, so the next leader knows them.
Result<Plan> plan_workloads(const WorkloadOperator& work, const ReleaseVersion& release, const Snapshot& seen, WallTime now);

// Makes wishes of every template below a folder of data/components ("dns/manifests"), filled (document.h). Objects of any type
// that kube/types.h names, and of built-in ones. errors: invalid: a hole without a value, no YAML, a type that nobody knows
Result<std::vector<DesiredObject>> desired_objects_of_folder(std::string_view folder, const TemplateValues& values);

// An object as a wish: the same for one that was put together in code.
Result<DesiredObject> to_desired_object(Json object, DesiredObject::How how = DesiredObject::How::apply);

// The command `PROGRAM start|operator [--kubeconfig=FILE] [-v N]`: operator_process.h. RELEASE_VERSION has to be set.
//
//   make    makes the operator
//   errors  those of `make`; invalid: flags, variables; unavailable: the Lease was lost; denied
Result<> run_workload_operator(const Environment& environment, const Arguments& arguments, std::string_view program,
                               const std::function<Result<WorkloadOperator>(const Environment&, const ReleaseVersion&)>& make);

}  // namespace slipway::components
