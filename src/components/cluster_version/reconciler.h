// Reconciler: keeps the manifests of a release applied, and reports its progress in ClusterVersion.
#pragma once

#include "base/time.h"
#include "components/cluster_version/apply_plan.h"
#include "components/cluster_version/gates.h"
#include "components/cluster_version/status.h"
#include "components/controller/view.h"
#include "components/render/inputs.h"
#include "kube/client.h"
#include "sys/context.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::components::cluster_version {

// What the image holds; it never changes while the program runs.
struct ReleaseContent {
  std::string version;
  std::string image;
  std::string profile;
  std::string exclude_id{};
  std::vector<Manifest> manifests;
};

// Threads: run() has one of its own for each watch.
class Reconciler {
 public:
  Reconciler(kube::Api& api, const ReleaseContent& release);

  // Applies everything when ClusterVersion, the feature gates or the API's address change, every few minutes, and again soon
  // after a failure; puts back at once what is changed or missing of Namespaces, Deployments, DaemonSets, ClusterOperators and
  // ClusterRoleBindings. Until a stop.
  //
  //   errors  cancelled; denied: it may not watch
  Result<> run(const sys::Context& context);

 private:
  // What decides over which manifests apply, and how.
  struct Terms {
    std::string generation;  // of ClusterVersion
    std::string gates{};     // what the FeatureGate says
    bool has_gates = false;  // of this version
    std::optional<std::string> api_host{};
    bool operator==(const Terms&) const = default;
  };
  // A try to put an object back.
  struct RestoreAttempt {
    std::string state;  // of the object that was found: its generation, or its version where it has none
    SteadyTime at;
  };

  Result<> keep(const sys::Context& context);
  SteadyTime look(const sys::Context& context);
  Terms terms_of(const Snapshot& seen, const Json& cluster_version) const;
  void begin(const Snapshot& seen, const Json& cluster_version, const Terms& terms, SteadyTime now);
  SteadyTime go_on(const sys::Context& context);
  std::optional<SteadyTime> not_before(SteadyTime now);
  Result<> apply(const sys::Context& context, const ApplyPlan& step);
  SteadyTime repair(const sys::Context& context, const Snapshot& seen);
  SteadyTime report(const sys::Context& context, const Json& cluster_version, const std::vector<UnmetGate>& lacking);
  Result<> write_status(const sys::Context& context, const ReleaseProgress& progress);
  std::vector<Gate> current_gates() const;

  kube::Api& api_;
  const ReleaseContent& release_;
  View view_;

  // The work of now; all below is of the thread that runs keep().
  SteadyTime started_{};
  std::optional<Terms> terms_;
  Mode mode_ = Mode::initializing;
  std::vector<ApplyPlan> steps_;   // one, two at first, or one a run level; of those that are applied only the gates are left
  std::size_t applied_ = 0;        // of the steps
  SteadyTime due_{};               // when everything is applied again
  Milliseconds retry_{};           // the next pause after a failure
  std::optional<Error> failure_;   // of the last try
  std::vector<Manifest> watched_;  // what repair() looks after
  std::map<std::string, RestoreAttempt> attempts_;  // by "Kind namespace/name"
  std::map<std::string, SteadyTime> lacking_since_;
  std::optional<SteadyTime> well_since_;  // nothing of what is applied lacks anything
  SteadyTime reported_{};  // when the status was written last, what, and the version of ClusterVersion that came of it
  Json reported_status_;
  std::string reported_version_;
  std::string hash_;
  std::size_t total_ = 0, done_ = 0;
  int overridden_ = 0;
};

}  // namespace slipway::components::cluster_version
