#include "components/controller/operator_process.h"

#include "base/flags.h"
#include "components/controller/leader.h"
#include "components/controller/process_metrics.h"
#include "components/program/kube_access.h"
#include "sys/environment_variable.h"
#include "sys/task_group.h"

namespace slipway::components {

Result<std::string> environment_text(const std::string& name) {
  std::string value = sys::environment_variable(name);
  if (!value.empty()) return value;
  return error(Code::invalid, "environment variable {}: not set (the operator's Deployment sets it)", name);
}

Result<> run_operator_process(const Environment& environment, const Arguments& arguments, std::string_view program,
                              const std::function<Result<OperatorProcess>()>& make) {
  const Flags flags = TRY(parse_flags(
      program, {{.name = "kubeconfig"}, {.name = "config"}, {.name = "v", .fallback = "2", .letter = 'v'}}, arguments));
  const OperatorProcess work = TRY(make());
  const kube::Access access = TRY(kube_access(environment.files, flags.text("kubeconfig")));
  Metrics metrics;
  kube::Client api(environment.http, access, &metrics);
  View view;
  const Reconciliation reconciliation{.manager = std::string(program), .watched = work.watched, .plan = work.plan, .view = view};

  const sys::Context& context = environment.context;
  const std::string identity = TRY(pod_identity(environment.files, environment.random));
  // Operators of static pods have another variable.
  const std::string version = sys::environment_variable("RELEASE_VERSION", sys::environment_variable("OPERATOR_IMAGE_VERSION"));
  const auto offered = offer_metrics(context, environment.files, metrics, std::string(program), identity, version);
  const LeaderOptions lease{.space = work.space, .name = fmt::format("{}-lock", program), .identity = identity};
  const Result<> led = lead(context, api, lease, [&](const sys::Context& leading) {
    sys::TaskGroup tasks(leading);
    tasks.run("", [&](const sys::Context& own) { return reconcile(own, api, reconciliation); });
    if (work.observer) tasks.run("observing", [&](const sys::Context& own) { return work.observer(own, api, view); });
    return tasks.wait();
  });
  // A requested stop is not a failure.
  if (!led.ok() && context.stop.stop_requested()) return Ok{};
  return led;
}

}  // namespace slipway::components
