#include "components/ingress/status.h"

#include "base/text.h"
#include "components/controller/operand.h"
#include "components/ingress/router.h"
#include "components/workload/workload.h"
#include "kube/conditions.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace slipway::components::ingress {

namespace {

// As in the Deployment in router.yaml: a quarter of the routers may be unavailable.
int min_available(int replicas) { return std::max(1, replicas - std::max(1, replicas / 4)); }

Condition good_unless(std::string type, std::string_view reason, std::string problem) {
  if (problem.empty()) return {.type = std::move(type), .is_true = true};
  return {.type = std::move(type), .is_true = false, .reason = std::string(reason), .message = std::move(problem)};
}

Condition bad_if(std::string type, std::string_view reason, std::string problem) {
  if (problem.empty()) return {.type = std::move(type)};
  return {.type = std::move(type), .is_true = true, .reason = std::string(reason), .message = std::move(problem)};
}

// The scheduler's messages about pods that it cannot schedule; each message once.
std::string not_scheduled(const std::vector<const Json*>& pods) {
  std::vector<std::string> reasons;
  int count = 0;
  for (const Json* pod : pods) {
    if (kube::condition_text(*pod, "PodScheduled", "status") != "False") continue;
    ++count;
    std::string message(kube::condition_text(*pod, "PodScheduled", "message"));
    if (std::ranges::find(reasons, message) == reasons.end()) reasons.push_back(std::move(message));
  }
  if (count == 0) return "";
  return fmt::format("{} of {} routers are not scheduled: {}", count, pods.size(), join(reasons, "; "));
}

std::string too_few(const Json& deployment, int needed) {
  const int available = integer_of(deployment, {"status", "availableReplicas"});
  if (available >= needed) return "";
  return fmt::format("{} of {} routers are available, {} are required", available, integer_of(deployment, {"spec", "replicas"}),
                     needed);
}

// Routers that are no longer available, or that did not start in time. Routers that are still starting are not a problem.
std::string deployment_problem(const Json& deployment) {
  if (kube::condition_text(deployment, "Progressing", "status") == "False") {
    return std::string(kube::condition_text(deployment, "Progressing", "message"));
  }
  if (kube::condition_text(deployment, "Progressing", "reason") != "NewReplicaSetAvailable") return "";
  const int replicas = integer_of(deployment, {"spec", "replicas"});
  return replicas == 0 ? "" : too_few(deployment, min_available(replicas));
}

std::vector<Condition> deployment_conditions(const RouterState& state) {
  const std::string missing = "the Deployment does not exist yet";
  const Json* deployment = state.deployment;
  const int replicas = deployment ? integer_of(*deployment, {"spec", "replicas"}) : 0;
  return {
      good_unless("DeploymentAvailable", "DeploymentUnavailable", deployment ? not_available(*deployment).value_or("") : missing),
      good_unless("DeploymentReplicasMinAvailable", "DeploymentMinimumReplicasNotMet",
                  deployment ? too_few(*deployment, replicas == 0 ? 0 : min_available(replicas)) : missing),
      good_unless("DeploymentReplicasAllAvailable", "DeploymentReplicasNotAvailable",
                  deployment ? too_few(*deployment, replicas) : missing),
      bad_if("DeploymentRollingOut", "DeploymentRollingOut", deployment ? not_rolled_out(*deployment).value_or("") : missing),
      good_unless("PodsScheduled", "PodsNotScheduled", not_scheduled(state.pods)),
  };
}

const Condition& named(const std::vector<Condition>& conditions, std::string_view type) {
  return *std::ranges::find(conditions, type, &Condition::type);
}

// A condition with reason and message of another.
Condition with_text_of(std::string type, bool is_true, const Condition& other) {
  return {.type = std::move(type), .is_true = is_true, .reason = other.reason, .message = other.message};
}

Json strategy_of(const Settings& settings) {
  const std::string_view type = to_text(settings.publishing);
  switch (settings.publishing) {
    case Publishing::node_port: return {{"type", type}, {"nodePort", {{"protocol", "TCP"}}}};
    case Publishing::nobody: return {{"type", type}, {"private", {{"protocol", "TCP"}}}};
    case Publishing::host_network: break;
  }
  return {{"type", type},
          {"hostNetwork",
           {{"httpPort", settings.http_port},
            {"httpsPort", settings.https_port},
            {"protocol", "TCP"},
            {"statsPort", settings.stats_port}}}};
}

}  // namespace

std::vector<Condition> router_conditions(const RouterState& state) {
  const Admission& admission = state.admission;
  std::vector<Condition> conditions = deployment_conditions(state);
  conditions.push_back(good_unless("Admitted", "Invalid", admission.problem));
  conditions.push_back({.type = "LoadBalancerManaged",
                        .reason = "EndpointPublishingStrategyExcludesManagedLoadBalancer",
                        .message = "this release creates no load balancers"});
  conditions.push_back({.type = "DNSManaged",
                        .reason = "NoDNSZones",
                        .message = "this release creates no DNS records; create the records of the domain yourself"});
  conditions.push_back(
      bad_if(std::string(kube::settings_ignored), "NotSupported",
             admission.ignored.empty() ? "" : fmt::format("no effect in this release: {}", join(admission.ignored, ", "))));

  conditions.push_back(
      with_text_of("Available", named(conditions, "DeploymentAvailable").is_true, named(conditions, "DeploymentAvailable")));
  conditions.push_back(
      with_text_of("Progressing", named(conditions, "DeploymentRollingOut").is_true, named(conditions, "DeploymentRollingOut")));
  if (!named(conditions, "PodsScheduled").is_true && conditions.back().is_true) {
    conditions.back().message += "; " + named(conditions, "PodsScheduled").message;
  }
  Condition degraded{.type = "Degraded"};
  if (!admission.problem.empty()) {
    degraded = {degraded.type, true, "NotAdmitted", admission.problem};
  } else if (const std::string problem = state.deployment ? deployment_problem(*state.deployment) : ""; !problem.empty()) {
    degraded = {degraded.type, true, "DeploymentDegraded", problem};
  } else if (!state.certificate_problem.empty()) {
    degraded = {degraded.type, true, "DefaultCertificateUnusable", state.certificate_problem};
  }
  // A controller that is refused before it has routers does not progress.
  if (!admission.problem.empty() && state.deployment == nullptr) {
    std::erase_if(conditions, [](const Condition& each) { return each.type == "Progressing"; });
    conditions.push_back(with_text_of("Progressing", false, degraded));
  }
  conditions.push_back(std::move(degraded));
  return conditions;
}

Json with_status(Json controller, const RouterState& state, WallTime now) {
  Json updated = with_conditions(std::move(controller), router_conditions(state), now);
  JsonObject& status = updated.as_object()["status"].as_object();
  status["availableReplicas"] = state.deployment ? integer_of(*state.deployment, {"status", "availableReplicas"}) : 0;
  status["selector"] = fmt::format("{}={}", controller_label, kube::name_of(updated));
  status["observedGeneration"] = integer_of(updated, {"metadata", "generation"});
  if (state.admission.settings) {
    const Settings& settings = *state.admission.settings;
    status["domain"] = settings.domain;
    status["endpointPublishingStrategy"] = strategy_of(settings);
    for (const char* selector : {"namespaceSelector", "routeSelector"}) {
      const JsonObject wanted = find_object(updated, {"spec", selector});
      if (wanted.empty()) {
        status.erase(selector);
      } else {
        status[selector] = wanted;
      }
    }
  }
  return updated;
}

}  // namespace slipway::components::ingress
