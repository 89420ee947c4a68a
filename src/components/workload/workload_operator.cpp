#include "components/workload/workload_operator.h"

#include "base/check.h"
#include "base/text.h"
#include "components/controller/unused_settings.h"
#include "components/render/document.h"
#include "data/data.h"
#include "sys/task_group.h"

#include <algorithm>

namespace slipway::components {

namespace {

constexpr std::size_t max_listed_objects = 3;

// The conditions that the operator reported last, with their times.
Json last_conditions(const WorkloadOperator& work, const Snapshot& seen) {
  const Json* reported = seen.find(kube::types::cluster_operators, "", work.name);
  JsonArray conditions;
  if (reported) conditions = find_array(*reported, {"status", "extension", "conditions"});
  return {{"status", {{"conditions", std::move(conditions)}}}};
}

// Removes conditions that the operator no longer reports.
Json without_old_conditions(Json object, const std::vector<Condition>& reported) {
  JsonArray& conditions = object.as_object()["status"].as_object()["conditions"].as_array();
  conditions.erase(std::remove_if(conditions.begin(), conditions.end(),
                                  [&](const Json& each) {
                                    const auto same = [&](const Condition& condition) {
                                      return find_string(each, {"type"}) == condition.type;
                                    };
                                    return std::ranges::none_of(reported, same);
                                  }),
                   conditions.end());
  return object;
}

// Names of objects that are not as wanted. Statuses do not count, because they only report.
std::vector<std::string> differing_objects(const std::vector<DesiredObject>& desired_objects, const Snapshot& seen) {
  std::vector<std::string> names;
  for (const DesiredObject& desired : desired_objects) {
    if (desired.how != DesiredObject::How::status && !is_fulfilled(desired, seen))
      names.push_back(kube::describe(desired.object));
  }
  return names;
}

Condition sync_condition(const Result<DesiredState>& computed, const std::vector<std::string>& differing) {
  Condition condition{.type = "SyncDegraded"};
  if (!computed.ok()) {
    return {.type = condition.type, .is_true = true, .reason = "SynchronizationError", .message = computed.error().message()};
  }
  if (differing.empty()) return condition;
  std::vector<std::string> reported(differing.begin(),
                                    differing.begin() + static_cast<long>(std::min(differing.size(), max_listed_objects)));
  if (differing.size() > max_listed_objects)
    reported.push_back(fmt::format("and {} more", differing.size() - max_listed_objects));
  return {.type = condition.type,
          .is_true = true,
          .reason = "ObjectsDiffer",
          .message = fmt::format("not applied (see the log of the operator): {}", join(reported, ", "))};
}

// Whether the operator's own conditions say that everything is available and nothing is progressing.
bool is_complete(const std::vector<Condition>& conditions) {
  return std::ranges::all_of(conditions, [](const Condition& each) {
    const std::string_view type = each.type;
    if (type.ends_with("Available")) return each.is_true;
    return !type.ends_with("Progressing") || !each.is_true;
  });
}

// An operator in the process of another one.
Result<> run_companion(const sys::Context& context, kube::Api& api, const std::string& manager, const ReleaseVersion& release,
                       const WorkloadOperator& work) {
  View view;
  const Reconciliation reconciliation{
      .manager = manager,
      .watched = watched_by(work),
      .plan = [&](const Snapshot& seen, WallTime now) { return plan_workloads(work, release, seen, now); },
      .view = view,
      .controller = work.name};
  sys::TaskGroup tasks(context);
  tasks.run("", [&](const sys::Context& own) { return reconcile(own, api, reconciliation); });
  if (work.observer) tasks.run("observing", [&](const sys::Context& own) { return work.observer(own, api, view); });
  return tasks.wait();
}

// Runs in parallel with the plan of an operator.
Result<> run_others(const sys::Context& context, kube::Api& api, View& view, const std::string& manager,
                    const ReleaseVersion& release, const WorkloadOperator& work) {
  sys::TaskGroup tasks(context);
  if (work.observer) tasks.run("", [&](const sys::Context& own) { return work.observer(own, api, view); });
  for (const WorkloadOperator& companion : work.companions) {
    tasks.run(companion.name, [&](const sys::Context& own) { return run_companion(own, api, manager, release, companion); });
  }
  return tasks.wait();
}

}  // namespace

std::vector<Watched> watched_by(const WorkloadOperator& work) {
  std::vector<Watched> watched = work.watched;
  if (work.settings) watched.push_back({*work.settings, "", {.fields = "metadata.name=cluster"}});
  watched.push_back({kube::types::cluster_operators, "", {.fields = "metadata.name=" + work.name}});
  return watched;
}

Result<Plan> plan_workloads(const WorkloadOperator& work, const ReleaseVersion& release, const Snapshot& seen, WallTime now) {
  ClusterOperatorFacts facts{.name = work.name, .versions = {}, .related = {}};
  if (work.settings) {
    const Json* settings = seen.find(*work.settings, "", "cluster");
    if (!settings || !is_managed(*settings)) {
      return plan_cluster_operator(seen, facts, settings ? *settings : JsonObject(), now);
    }
  }
  Result<DesiredState> computed = work.desired_state(seen, now);
  const bool is_computed = computed.ok();
  const std::vector<std::string> differing =
      is_computed ? differing_objects(computed.value().plan.desired_objects, seen) : std::vector<std::string>();
  const Condition sync = sync_condition(computed, differing);
  Json known = last_conditions(work, seen);
  DesiredState desired_state;
  if (is_computed) {
    desired_state = std::move(computed).value();
    desired_state.conditions.push_back(sync);
    known = without_old_conditions(std::move(known), desired_state.conditions);
    if (differing.empty() && is_complete(desired_state.conditions)) {
      facts.versions.emplace_back("operator", release.version);
      for (const std::string& operand : work.operands) facts.versions.emplace_back(operand, release.version);
    }
  } else {
    desired_state.conditions.push_back(sync);
  }
  const Json reported = with_conditions(std::move(known), desired_state.conditions, now);
  std::vector<kube::ResourceType> configured_by = work.configured_by;
  if (work.settings) configured_by.push_back(*work.settings);
  facts.ignored = unused_settings(configured_by, seen);
  facts.extension = JsonObject{{"conditions", find_array(reported, {"status", "conditions"})}};
  desired_state.plan.add(plan_cluster_operator(seen, facts, reported, now));
  return std::move(desired_state.plan);
}

Result<std::vector<DesiredObject>> desired_objects_of_folder(std::string_view folder, const TemplateValues& values) {
  std::vector<DesiredObject> desired_objects;
  const std::string prefix = fmt::format("{}/", folder);
  for (const data::File& file : data::components()) {
    if (!file.path.starts_with(prefix)) continue;
    Json object = TRY(fill_document(file.path, values));
    desired_objects.push_back(TRY(to_desired_object(std::move(object)).context(std::string(file.path))));
  }
  CHECK(!desired_objects.empty());
  return desired_objects;
}

Result<DesiredObject> to_desired_object(Json object, DesiredObject::How how) {
  const kube::ResourceType* type = kube::find_type(object);
  if (type) return DesiredObject{*type, std::move(object), how};
  return error(Code::invalid, "{}: unknown kind for apiVersion {}", kube::describe(object),
               find_string(object, {"apiVersion"}).value_or("\"\""));
}

Result<> run_workload_operator(const Environment& environment, const Arguments& arguments, std::string_view program,
                               const std::function<Result<WorkloadOperator>(const Environment&, const ReleaseVersion&)>& make) {
  return run_operator_process(environment, arguments, program, [&]() -> Result<OperatorProcess> {
    ReleaseVersion release;
    release.version = TRY(environment_text("RELEASE_VERSION"));
    const WorkloadOperator work = TRY(make(environment, release));
    OperatorProcess process{
        .space = work.space, .watched = watched_by(work), .plan = [work, release](const Snapshot& seen, WallTime now) {
          return plan_workloads(work, release, seen, now);
        }};
    if (work.observer || !work.companions.empty()) {
      process.observer = [work, release, manager = std::string(program)](const sys::Context& context, kube::Api& api,
                                                                         View& view) {
        return run_others(context, api, view, manager, release, work);
      };
    }
    return process;
  });
}

}  // namespace slipway::components
