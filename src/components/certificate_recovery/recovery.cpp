#include "components/certificate_recovery/recovery.h"

#include "base/flags.h"
#include "components/controller/leader.h"
#include "components/controller/operator_process.h"
#include "components/program/kube_access.h"
#include "sys/task_group.h"

#include <algorithm>

namespace slipway::components::certificate_recovery {

namespace {

constexpr std::string_view program = "certificate-recovery";

// Short, because the machine of the last holder may have lost power.
LeaderOptions lease(const std::string& identity) {
  return {.space = "openshift-kube-apiserver",
          .name = std::string(program),
          .identity = identity,
          .duration = Seconds(15),
          .renew_deadline = Milliseconds(10'000),
          .retry = Milliseconds(2'000)};
}

bool is_certificate(const DesiredObject& desired) {
  const bool is_pair = desired.type == kube::types::secrets && find(desired.object, {"data", "tls.crt"}) != nullptr;
  const bool is_bundle = desired.type == kube::types::config_maps && find(desired.object, {"data", "ca-bundle.crt"}) != nullptr;
  return is_pair || is_bundle;
}

Result<> recover(const sys::Context& context, kube::Api& api, const Parts& parts, const std::vector<StaticPodOperator>& works) {
  std::vector<View> views(works.size());
  sys::TaskGroup tasks(context);
  for (std::size_t i = 0; i < works.size(); ++i) {
    tasks.run(works[i].operand.name, [&work = works[i], &view = views[i], &api](const sys::Context& own) {
      return reconcile(own, api,
                       {.manager = std::string(program),
                        .watched = watched_by(work),
                        .plan = [&work](const Snapshot& seen, WallTime now) { return plan_recovery(work, seen, now); },
                        .view = view});
    });
  }
  tasks.run("approving", [&](const sys::Context& own) { return parts.approve(own, api); });
  return tasks.wait();
}

}  // namespace

Result<Plan> plan_recovery(const StaticPodOperator& work, const Snapshot& seen, WallTime now) {
  const Json* settings = seen.find(work.operand.settings, "", "cluster");
  if (settings == nullptr) return Plan{};
  Target target = TRY(work.target(seen, *settings, now));
  std::erase_if(target.plan.desired_objects, [](const DesiredObject& desired) { return !is_certificate(desired); });
  return Plan{.desired_objects = std::move(target.plan.desired_objects),
              .notices = std::move(target.plan.notices),
              .replan_at = target.plan.replan_at};
}

Result<> run_start(const Environment& environment, const Arguments& arguments, const Parts& parts) {
  const Flags flags = TRY(parse_flags("certificate-recovery start",
                                      {{.name = "kubeconfig", .required = true}, {.name = "root", .fallback = "/"}}, arguments));
  const std::string node = TRY(environment_text("NODE_NAME")), version = TRY(environment_text("OPERATOR_IMAGE_VERSION"));
  std::string root = flags.text("root");
  while (root.ends_with('/')) root.pop_back();
  const std::vector<StaticPodOperator> works = parts.operators(version);
  const Connect connect = [&]() -> Result<std::shared_ptr<kube::Api>> {
    const kube::Access access = TRY(kube_access(environment.files, flags.text("kubeconfig")));
    return std::shared_ptr<kube::Api>(std::make_shared<kube::Client>(environment.http, access));
  };
  const std::shared_ptr<kube::Api> api = TRY(connect());
  const std::string identity = TRY(pod_identity(environment.files, environment.random));
  sys::TaskGroup tasks(environment.context);
  tasks.run("installing", [&](const sys::Context& own) { return parts.install(own, connect, environment.files, root, node); });
  tasks.run("recovering", [&](const sys::Context& own) {
    return lead(own, *api, lease(identity), [&](const sys::Context& leading) { return recover(leading, *api, parts, works); });
  });
  const Result<> ended = tasks.wait();
  // A requested stop is not an error.
  if (!ended.ok() && environment.context.stop.stop_requested()) return Ok{};
  return ended;
}

}  // namespace slipway::components::certificate_recovery
