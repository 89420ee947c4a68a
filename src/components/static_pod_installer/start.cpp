#include "components/static_pod_installer/start.h"

#include "base/flags.h"
#include "base/text.h"
#include "components/program/kube_access.h"
#include "sys/environment_variable.h"
#include "sys/wait_for.h"

#include <algorithm>

namespace slipway::components::static_pod_installer {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds check_interval = 10min;  // interval for checking a disk that should not have changed
constexpr Milliseconds missing_grace = 10s;     // before missing objects are reported: watches are not exactly in step
constexpr sys::Pace permission_pace{200ms, 1s};
constexpr std::string_view failed = "InstallerFailed";

NodeStatus* find_node(std::vector<NodeStatus>& statuses, std::string_view node) {
  const auto found = std::ranges::find(statuses, node, &NodeStatus::node);
  return found == statuses.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Watched> watched() {
  std::vector<Watched> result;
  for (const Operand& operand : operands()) {
    result.push_back({operand.settings});
    result.push_back({kube::types::config_maps, operand.space});
    result.push_back({kube::types::secrets, operand.space});
  }
  return result;
}

Plan Installer::plan(const Snapshot& seen, WallTime now) {
  Plan plan;
  for (const Operand& operand : operands()) {
    if (const Json* settings = seen.find(operand.settings, "", "cluster")) plan.add(plan_operand(operand, *settings, seen, now));
  }
  return plan;
}

Plan Installer::plan_operand(const Operand& operand, const Json& settings, const Snapshot& seen, WallTime now) {
  Plan plan;
  OperandState& state = states_[operand.name];
  const Layout layout = plan_layout(operand, seen, place_.node);
  if (state.failure && state.failure->revision != layout.revision) state.failure.reset();
  if (state.failure) plan.add(plan_failure(operand, settings, *state.failure));
  if (const auto revision = std::exchange(state.completed, std::nullopt)) {
    plan.notices.push_back(
        {settings, "InstallCompleted", fmt::format("{} revision {} is installed on {}", operand.name, *revision, place_.node)});
  }
  if (layout.revision == 0) return plan;
  plan.add(plan_waiting(operand, settings, layout, now));
  if (state.written && state.written->is_same(layout) && now < state.checked + check_interval) {
    plan.add({.replan_at = state.checked + check_interval});
    return plan;
  }
  plan.tasks.push_back({fmt::format("installing {} revision {}", operand.name, layout.revision),
                        [this, &operand, layout](const sys::Context& context) { return install(context, operand, layout); }});
  return plan;
}

Plan Installer::plan_failure(const Operand& operand, const Json& settings, Failure& failure) const {
  Plan plan;
  std::vector<NodeStatus> statuses = parse_node_statuses(settings);
  NodeStatus* current = find_node(statuses, place_.node);
  // A revision that already runs has not failed if its certificates cannot be renewed; the log reports it.
  if (failure.is_reported || !current || current->current == failure.revision) return plan;
  const bool is_repeated = current->last_failed == failure.revision && current->last_failed_reason == failed;
  NodeStatus updated = *current;
  updated.last_failed = failure.revision;
  updated.last_failed_reason = failed;
  updated.last_failed_errors = {failure.text};
  updated.last_failed_time = to_rfc3339(std::chrono::floor<Seconds>(failure.time));
  if (updated == *current) {
    failure.is_reported = true;
    return plan;
  }
  updated.last_failed_count = (is_repeated ? current->last_failed_count : 0) + 1;
  *current = updated;
  plan.desired_objects.push_back({operand.settings, with_node_statuses(settings, statuses), DesiredObject::How::status});
  plan.notices.push_back(
      {settings, std::string(failed),
       fmt::format("{} revision {} not installed on {}: {}", operand.name, failure.revision, place_.node, failure.text), true});
  return plan;
}

Plan Installer::plan_waiting(const Operand& operand, const Json& settings, const Layout& layout, WallTime now) {
  Plan plan;
  std::optional<WallTime>& waiting = states_[operand.name].waiting;
  if (layout.missing.empty()) {
    waiting.reset();
    return plan;
  }
  if (!waiting) waiting = now;
  if (now < *waiting + missing_grace) {
    plan.replan_at = *waiting + missing_grace;
    return plan;
  }
  plan.notices.push_back({settings, "InstallerWaits",
                          fmt::format("{} revision {} on {}: waiting for missing objects: {}", operand.name, layout.revision,
                                      place_.node, join(layout.missing, ", ")),
                          true});
  return plan;
}

Result<> Installer::install(const sys::Context& context, const Operand& operand, const Layout& layout) {
  OperandState& state = states_[operand.name];
  const Result<bool> written = write_layout(files_, place_, operand, layout);
  const WallTime now = context.clock.now();
  if (!written.ok()) {
    const std::string& text = written.error().message();
    if (!state.failure || state.failure->text != text) state.failure = Failure{layout.revision, text, now};
    return written.error();
  }
  state.written = layout;
  state.checked = now;
  state.failure.reset();
  if (written.value()) {
    state.completed = layout.revision;
    view_.changed().notify();  // the next plan reports it
  }
  return Ok{};
}

Result<> keep_installed(const sys::Context& context, const Connect& connect, sys::Files& files, const Place& place) {
  for (Milliseconds pause = permission_pace.first;; pause = std::min(pause * 2, permission_pace.longest)) {
    const std::shared_ptr<kube::Api> api = TRY(connect());
    View view;
    Installer installer(files, view, place);
    // The server counts Events of one reason about one object per component. Each node must have its own Event.
    const std::string component = "static-pod-installer-" + place.node;
    const Result<> ended = reconcile(context, *api,
                                     {.manager = component,
                                      .watched = watched(),
                                      .plan = [&](const Snapshot& seen, WallTime now) { return installer.plan(seen, now); },
                                      .view = view});
    if (context.stop.stop_requested()) return Ok{};
    if (ended.ok() || ended.error().code() != Code::denied) return ended;
    context.log.warn("{}; retrying, because permissions may be created later than this pod", ended.error().message());
    if (!sys::pause(context, pause)) return Ok{};
  }
}

Result<> run_start(const Environment& environment, const Arguments& arguments) {
  const Flags flags =
      TRY(parse_flags("static-pod-installer start", {{.name = "kubeconfig"}, {.name = "root", .fallback = "/"}}, arguments));
  const std::string node = sys::environment_variable("NODE_NAME");
  if (node.empty()) {
    return error(Code::invalid, "NODE_NAME: not set (give the pod env NODE_NAME with fieldRef spec.nodeName)");
  }
  std::string root = flags.text("root");
  while (root.ends_with('/')) root.pop_back();
  const auto connect = [&]() -> Result<std::shared_ptr<kube::Api>> {
    const kube::Access access = TRY(kube_access(environment.files, flags.text("kubeconfig")));
    return std::shared_ptr<kube::Api>(std::make_shared<kube::Client>(environment.http, access));
  };
  return keep_installed(environment.context, connect, environment.files, {.root = root, .node = node});
}

}  // namespace slipway::components::static_pod_installer
