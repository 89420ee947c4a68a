#include "components/static_pod/static_pod_operator.h"

#include "base/text.h"
#include "components/controller/masters.h"
#include "components/controller/operator_process.h"
#include "components/controller/unused_settings.h"
#include "components/static_pod/revision.h"
#include "kube/machine_table.h"
#include "sys/environment_variable.h"

#include <algorithm>

namespace slipway::components {

namespace {

constexpr std::string_view cluster = "cluster";
const kube::Selection the_cluster{.fields = "metadata.name=cluster"};

Json reference(std::string_view group, std::string_view resource, std::string_view name) {
  return {{"group", group}, {"resource", resource}, {"namespace", ""}, {"name", name}};
}

std::vector<Json> related_objects(const Operand& operand) {
  return {reference(operand.settings.group, operand.settings.plural, cluster), reference("", "namespaces", "openshift-config"),
          reference("", "namespaces", "openshift-config-managed"), reference("", "namespaces", operand.operator_space),
          reference("", "namespaces", operand.space)};
}

// The versions of operator and operand are reported when all nodes run the operand of this release. Until then the
// ClusterOperator keeps the previous ones, and an update waits.
ClusterOperatorFacts facts_of(const Operand& operand, const OperatorVariables& variables, bool is_complete) {
  ClusterOperatorFacts facts{
      .name = operand.name, .versions = {{"raw-internal", variables.version}}, .related = related_objects(operand)};
  if (is_complete) {
    facts.versions.emplace_back("operator", variables.version);
    facts.versions.emplace_back(operand.name, variables.operand_version);
  }
  return facts;
}

bool is_part(const Operand& operand, const DesiredObject& desired) {
  if (kube::namespace_of(desired.object) != operand.space) return false;
  return std::any_of(operand.revisioned.begin(), operand.revisioned.end(),
                     [&](const Part& part) { return part.type() == desired.type && part.name == kube::name_of(desired.object); });
}

// The settings with the new status: revision, rollout and conditions in one write.
//
//   release  the one whose parts the published revision has; empty: not known
Json settings_with(const Json& settings, const RevisionState& revision, const RolloutState& rollout, std::string_view release,
                   const std::vector<Condition>& conditions, WallTime now) {
  Json next = with_node_statuses(settings, rollout.nodes);
  JsonObject& status = next.as_object()["status"].as_object();
  if (rollout.published > 0) status["latestAvailableRevision"] = rollout.published;
  if (rollout.published > 0 && rollout.published == revision.latest) status["latestAvailableRevisionReason"] = revision.reason;
  if (!release.empty()) status["version"] = release;
  status["readyReplicas"] = rollout.ready_replicas;
  if (const Json* generation = find(settings, {"metadata", "generation"})) status["observedGeneration"] = *generation;
  return with_conditions(std::move(next), conditions, now);
}

}  // namespace

std::vector<Watched> watched_by(const StaticPodOperator& work) {
  const Operand& operand = work.operand;
  std::vector<Watched> watched = {
      {operand.settings, "", the_cluster},
      {kube::types::nodes},
      {kube::types::pods, operand.space},
      {kube::types::cluster_operators, "", {.fields = "metadata.name=" + operand.name}},
  };
  for (const std::string& space : {operand.operator_space, operand.space}) {
    watched.push_back({kube::types::config_maps, space});
    watched.push_back({kube::types::secrets, space});
  }
  watched.insert(watched.end(), work.watched.begin(), work.watched.end());
  const bool has_table = std::ranges::any_of(work.watched, [](const Watched& each) {
    return each.type == kube::types::config_maps && each.space == kube::machine_table_space && each.selection.labels.empty() &&
           each.selection.fields.empty();
  });
  if (!has_table) watched.push_back(machine_table_watch());
  return watched;
}

Result<Plan> plan_static_pods(const StaticPodOperator& work, const OperatorVariables& variables, const Snapshot& seen,
                              WallTime now) {
  const Operand& operand = work.operand;
  const Json* settings = seen.find(operand.settings, "", cluster);
  if (!settings || !is_managed(*settings)) {
    return plan_cluster_operator(seen, facts_of(operand, variables, false), settings ? *settings : JsonObject(), now);
  }

  Result<Target> result = work.target(seen, *settings, now);
  Target target = result.ok() ? std::move(result).value() : Target{};
  const bool is_settled =
      std::all_of(target.plan.desired_objects.begin(), target.plan.desired_objects.end(),
                  [&](const DesiredObject& desired) { return !is_part(operand, desired) || is_fulfilled(desired, seen); });
  const bool has_parts = result.ok() && is_settled && target.missing.empty();
  RevisionState revision = plan_revision(operand, *settings, seen, has_parts);
  std::vector<std::string> missing = target.missing;
  for (std::string& part : revision.missing) {
    if (std::find(missing.begin(), missing.end(), part) == missing.end()) missing.push_back(std::move(part));
  }
  RolloutState rollout = plan_rollout(operand, *settings, revision.latest, missing, seen, work.rollout_guard, now);

  std::vector<Condition> conditions = std::move(rollout.conditions);
  conditions.push_back({.type = "TargetConfigControllerDegraded",
                        .is_true = !result.ok(),
                        .reason = result.ok() ? "AsExpected" : "SynchronizationError",
                        .message = result.ok() ? "" : result.error().message()});
  conditions.insert(conditions.end(), target.conditions.begin(), target.conditions.end());
  // After an update of the operator, the latest revision is that of the release before, until this operator has made another one.
  const bool is_of_release = has_parts && revision.is_current && rollout.published == revision.latest;
  const std::string_view release = is_of_release ? std::string_view(variables.version) : "";
  const Json next = settings_with(*settings, revision, rollout, release, conditions, now);

  Plan plan = std::move(target.plan);
  plan.add(std::move(revision.plan));
  plan.desired_objects.push_back({operand.settings, next, DesiredObject::How::status});
  const Json* published = find(*settings, {"status", "latestAvailableRevision"});
  if (revision.latest > 0 && (!published || *published != revision.latest)) {
    plan.notices.push_back(
        {*settings, "RevisionCreated", fmt::format("{} revision {}: {}", operand.name, revision.latest, revision.reason)});
  }
  plan.add({.notices = std::move(rollout.notices), .replan_at = rollout.replan_at});
  ClusterOperatorFacts facts = facts_of(operand, variables, is_of_release && rollout.is_complete);
  facts.ignored = unused_settings({operand.settings}, seen);
  plan.add(plan_cluster_operator(seen, facts, next, now));
  return plan;
}

Result<OperatorVariables> operator_variables() {
  std::vector<std::string> missing;
  const auto variable = [&](const std::string& name) {
    std::string value = sys::environment_variable(name);
    if (value.empty()) missing.push_back(name);
    return value;
  };
  OperatorVariables variables{.image = variable("IMAGE"),
                              .operator_image = variable("OPERATOR_IMAGE"),
                              .version = variable("OPERATOR_IMAGE_VERSION"),
                              .operand_version = variable("OPERAND_IMAGE_VERSION")};
  if (missing.empty()) return variables;
  return error(Code::invalid, "environment variable {}: not set (the operator's Deployment sets it)", join(missing, ", "));
}

Result<> run_static_pod_operator(
    const Environment& environment, const Arguments& arguments, std::string_view program,
    const std::function<Result<StaticPodOperator>(const Environment&, const OperatorVariables&)>& make) {
  return run_operator_process(environment, arguments, program, [&]() -> Result<OperatorProcess> {
    const OperatorVariables variables = TRY(operator_variables());
    const StaticPodOperator work = TRY(make(environment, variables));
    OperatorProcess process{
        .space = work.operand.operator_space,
        .watched = watched_by(work),
        .plan = [work, variables](const Snapshot& seen, WallTime now) { return plan_static_pods(work, variables, seen, now); }};
    if (work.observer) {
      process.observer = [observe = work.observer](const sys::Context& context, kube::Api&, View& view) {
        return observe(context, view);
      };
    }
    return process;
  });
}

}  // namespace slipway::components
