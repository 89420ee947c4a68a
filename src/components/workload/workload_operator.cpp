#include "components/workload/workload_operator.h"

#include "base/check.h"
#include "base/text.h"
#include "components/controller/unused_settings.h"
#include "components/render/document.h"
#include "data/data.h"

#include <algorithm>

namespace slipway::components {

namespace {

constexpr std::size_t objects_told = 3;

// What was said of the operand last, with its times.
Json remembered(const WorkloadOperator& work, const Snapshot& seen) {
  const Json* told = seen.find(kube::types::cluster_operators, "", work.name);
  JsonArray conditions;
  if (told) conditions = find_array(*told, {"status", "extension", "conditions"});
  return {{"status", {{"conditions", std::move(conditions)}}}};
}

// Without the conditions that an operator does not tell any more.
Json only(Json object, const std::vector<Condition>& told) {
  JsonArray& conditions = object.as_object()["status"].as_object()["conditions"].as_array();
  conditions.erase(std::remove_if(conditions.begin(), conditions.end(),
                                  [&](const Json& each) {
                                    const auto same = [&](const Condition& condition) {
                                      return find_string(each, {"type"}) == condition.type;
                                    };
                                    return std::ranges::none_of(told, same);
                                  }),
                   conditions.end());
  return object;
}

// A status follows what it tells of and is never the cause of anything.
std::vector<std::string> not_as_wished(const std::vector<DesiredObject>& desired_objects, const Snapshot& seen) {
  std::vector<std::string> names;
  for (const DesiredObject& desired : desired_objects) {
    if (desired.how != DesiredObject::How::status && !is_fulfilled(desired, seen))
      names.push_back(kube::describe(desired.object));
  }
  return names;
}

Condition sync_condition(const Result<DesiredState>& made, const std::vector<std::string>& open) {
  Condition condition{.type = "SyncDegraded"};
  if (!made.ok()) {
    return {.type = condition.type, .is_true = true, .reason = "SynchronizationError", .message = made.error().message()};
  }
  if (open.empty()) return condition;
  std::vector<std::string> told(open.begin(), open.begin() + static_cast<long>(std::min(open.size(), objects_told)));
  if (open.size() > objects_told) told.push_back(fmt::format("and {} more", open.size() - objects_told));
  return {.type = condition.type,
          .is_true = true,
          .reason = "ObjectsDiffer",
          .message = fmt::format("not applied (see the log of the operator): {}", join(told, ", "))};
}

// Whether all is there and nothing moves, by the operator's own words.
bool is_complete(const std::vector<Condition>& conditions) {
  return std::ranges::all_of(conditions, [](const Condition& each) {
    const std::string_view type = each.type;
    if (type.ends_with("Available")) return each.is_true;
    return !type.ends_with("Progressing") || !each.is_true;
  });
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
  Result<DesiredState> made = work.desired_state(seen, now);
  const bool is_made = made.ok();
  const std::vector<std::string> open =
      is_made ? not_as_wished(made.value().plan.desired_objects, seen) : std::vector<std::string>();
  const Condition sync = sync_condition(made, open);
  Json known = remembered(work, seen);
  DesiredState desired_state;
  if (is_made) {
    desired_state = std::move(made).value();
    desired_state.conditions.push_back(sync);
    known = only(std::move(known), desired_state.conditions);
    if (open.empty() && is_complete(desired_state.conditions)) {
      facts.versions.emplace_back("operator", release.version);
      for (const std::string& operand : work.operands) facts.versions.emplace_back(operand, release.version);
    }
  } else {
    desired_state.conditions.push_back(sync);
  }
  const Json told = with_conditions(std::move(known), desired_state.conditions, now);
  std::vector<kube::ResourceType> configured_by = work.configured_by;
  if (work.settings) configured_by.push_back(*work.settings);
  facts.ignored = unused_settings(configured_by, seen);
  facts.extension = JsonObject{{"conditions", find_array(told, {"status", "conditions"})}};
  desired_state.plan.add(plan_cluster_operator(seen, facts, told, now));
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
    return OperatorProcess{
        .space = work.space,
        .watched = watched_by(work),
        .plan = [work, release](const Snapshot& seen, WallTime now) { return plan_workloads(work, release, seen, now); },
        .observer = work.observer};
  });
}

}  // namespace slipway::components
