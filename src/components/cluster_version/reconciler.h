// Reconciler: applies and reconciles the manifests of a release, and reports progress in ClusterVersion.
#pragma once

#include "base/guarded.h"
#include "base/time.h"
#include "components/cluster_version/apply_plan.h"
#include "components/cluster_version/gates.h"
#include "components/cluster_version/graph.h"
#include "components/cluster_version/status.h"
#include "components/cluster_version/update.h"
#include "components/controller/view.h"
#include "components/render/inputs.h"
#include "kube/client.h"
#include "sys/context.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::components::cluster_version {

// The content of the release image; it does not change while the program runs.
struct ReleaseContent {
  std::string version;
  std::string image;
  std::string profile;
  std::string exclude_id{};
  std::string node{};  // where this program runs
  std::vector<Manifest> manifests;
};

// Threads: one calls run(), which starts one more for each watch.
class Reconciler {
 public:
  // Gets the answer of an update service. errors: any; the message says what failed
  using FetchGraph = std::function<Result<std::string>(const sys::Context& context, const std::string& url)>;

  // Reads the signatures beside an image. errors: any; the message says what failed
  using ReadSignatures = std::function<Result<std::vector<std::string>>(const sys::Context& context, const std::string& image)>;

  Reconciler(kube::Api& api, const ReleaseContent& release, FetchGraph fetch_graph, ReadSignatures read_signatures);

  // Runs until a stop is requested. Applies all manifests every three minutes, when ClusterVersion, the feature gates or the
  // API's address change, and soon after a failure. Restores changed or deleted Namespaces, Deployments, DaemonSets,
  // ClusterOperators and ClusterRoleBindings at once. Retrieves the release that spec.desiredUpdate asks for, checks it, and
  // gives its image to the Deployment of this program (update.h); from then on it applies nothing. Asks the update service of
  // spec.upstream every three minutes, and when the request changes. Looks for the signatures of a requested image every minute,
  // if its own release has keys.
  //
  //   errors  cancelled; denied: no permission to watch
  Result<> run(const sys::Context& context);

 private:
  // The inputs of the plan besides the manifests.
  struct PlanInputs {
    std::string generation;  // of ClusterVersion
    std::string gates{};     // content of the FeatureGate
    bool has_gates = false;  // the FeatureGate has the gates of this version
    std::optional<std::string> api_host{};
    bool operator==(const PlanInputs&) const = default;
  };
  // An attempt to restore an object.
  struct RestoreAttempt {
    std::string state;  // state of the object before: its generation, or its resource version if it has no generation
    SteadyTime at;
  };

  Result<> retrieve_until_stopped(const sys::Context& context);
  KnownUpdates retrieve(const sys::Context& context, const GraphRequest& request);
  Result<> read_signatures_until_stopped(const sys::Context& context);
  Result<> apply_until_stopped(const sys::Context& context);
  SteadyTime reconcile_once(const sys::Context& context);
  PlanInputs inputs_of(const Snapshot& seen, const Json& cluster_version) const;
  void update(const sys::Context& context, const Json& cluster_version, Mode mode, const Snapshot& seen);
  Result<> act(const sys::Context& context, const UpdateStep& step);
  void plan_steps(const Snapshot& seen, const Json& cluster_version, const PlanInputs& inputs, SteadyTime now);
  SteadyTime apply_steps(const sys::Context& context);
  std::optional<SteadyTime> not_before(SteadyTime now);
  Result<> apply(const sys::Context& context, const ApplyPlan& step);
  SteadyTime restore(const sys::Context& context, const Snapshot& seen);
  SteadyTime report(const sys::Context& context, const Json& cluster_version, const std::vector<UnmetGate>& unmet);
  Result<> write_status(const sys::Context& context, const ReleaseProgress& progress);
  std::vector<Gate> current_gates() const;

  kube::Api& api_;
  const ReleaseContent& release_;
  const FetchGraph fetch_graph_;
  const ReadSignatures read_signatures_;
  const OwnRelease own_;
  View view_;
  Guarded<KnownUpdates> known_updates_;
  Guarded<FoundSignatures> found_signatures_;

  // The current work. Only the thread of apply_until_stopped() uses these members.
  SteadyTime started_{};
  std::optional<PlanInputs> inputs_;
  Mode mode_ = Mode::initializing;
  std::vector<ApplyPlan> steps_;  // initializing: two; updating: one for each run level; an applied step has only its gates
  std::size_t applied_ = 0;       // number of applied steps
  SteadyTime due_{};              // when all manifests are applied again
  Milliseconds retry_{};          // the pause after the next failure
  std::optional<Error> failure_;  // error of the last attempt
  std::optional<SteadyTime> failing_since_;  // since when no attempt succeeded
  Acceptance acceptance_;
  HandOver hand_over_;  // how this release was accepted
  std::optional<NotUpgradeable> not_upgradeable_;
  bool has_handed_over_ = false;                    // the Deployment of this program has the image of another release
  std::vector<Manifest> watched_;                   // manifests of objects that restore() handles
  std::map<std::string, RestoreAttempt> attempts_;  // by "Kind namespace/name"
  std::map<std::string, SteadyTime> unmet_since_;   // by UnmetGate::object
  std::optional<SteadyTime> met_since_;             // since when all gates of applied steps are met
  SteadyTime reported_{};                           // when the status was last written
  Json reported_status_;                            // the status that was last written
  std::string reported_version_;                    // resource version of ClusterVersion after that
  std::string hash_;
  std::size_t total_ = 0, done_ = 0;
  int overridden_ = 0;
};

}  // namespace slipway::components::cluster_version
