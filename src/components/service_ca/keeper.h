// Creates the Secrets of Services and puts the bundle into objects that ask for it. All these objects belong to users: what the
// API server refuses is reported in annotations and Events of the object and does not make the operator Degraded.
#pragma once

#include "components/controller/certificate_rotation.h"
#include "components/controller/reconcile.h"
#include "components/service_ca/authority.h"
#include "kube/client.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::components::service_ca {

// Threads: all calls on the thread of reconcile().
class Keeper {
 public:
  Keeper(kube::Api& api, View& view) : api_(api), view_(view) {}

  static std::vector<Watched> watched();
  Result<Plan> plan(const Snapshot& seen, WallTime now);

 private:
  // The last attempt of a change that failed.
  struct Attempt {
    int count = 0;
    WallTime next{};        // before that it is not tried again
    std::string version{};  // resourceVersion of the object, or the Secret that a Service names; another one is tried at once
  };

  void plan_services(const Snapshot& seen, WallTime now, Plan& plan);
  void plan_annotations(const Json& service, const JsonObject& annotations, WallTime now, Plan& plan);
  // known: the existing Secret, reduced; null: none. why: for the log
  void plan_issue(const Json& service, const Json& known, const Authority& authority, const Lifetime& lifetime,
                  const std::string& why, WallTime now, Plan& plan);
  void plan_injections(const Snapshot& seen, WallTime now, Plan& plan);
  Result<> annotate(const sys::Context& context, const Json& service, const JsonObject& annotations);
  // Whether the change has to wait; sets the time of the next plan.
  bool waits(const std::string& key, const std::string& version, Plan& plan, WallTime now);
  // Remembers a failure. Only one that no object can be blamed for is returned: it stops the plan, which is made again.
  Result<> settle(const sys::Context& context, const std::string& key, const std::string& version, const Result<>& done);

  kube::Api& api_;
  View& view_;
  std::map<std::string, Attempt> attempts_;
};

// Runs until a stop. errors: those of reconcile()
Result<> keep(const sys::Context& context, kube::Api& api);

}  // namespace slipway::components::service_ca
