#include "cluster/ready.h"

#include "base/text.h"
#include "config/platforms.h"
#include "kube/conditions.h"
#include "kube/machine_table.h"
#include "kube/roles.h"
#include "sys/events.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

namespace {

using Missing = std::optional<std::string>;
using Look = std::function<Missing(const kube::Objects&)>;

Result<> wait_for_api(const sys::Context& context, kube::Api& api, const DelayReason& delay_reason, Milliseconds limit) {
  auto observe = [&]() -> Result<sys::Observation> {
    const Result<Json> ready = api.send(context, {.path = "/readyz"});
    if (ready.ok()) return sys::Observation::done();
    const std::string detail = delay_reason();
    return sys::Observation::not_yet("{}{}{}", ready.error().message(), detail.empty() ? "" : "; ", detail);
  };
  // Polls: no event from outside shows that a server starts to listen.
  return sys::wait_for(context, "the Kubernetes API", limit, observe, nullptr,
                       {.first = Milliseconds(100), .longest = Milliseconds(500)});
}

// Watches objects until nothing is missing.
Condition watched(Step step, const kube::ResourceType& type, std::string space, std::string object, Look missing) {
  const auto wait = [=](const sys::Context& context, kube::Api& api, const DelayReason& delay_reason, Milliseconds longest) {
    const kube::Selection selection{.fields = object.empty() ? "" : "metadata.name=" + object};
    return kube::wait_until(context, api, row_of(step).description, longest, type, space, selection,
                            [&](const kube::Objects& found) -> Result<Missing> {
                              Missing reason = missing(found);
                              const std::string detail = reason ? delay_reason() : "";
                              if (!detail.empty()) *reason += "; " + detail;
                              return reason;
                            });
  };
  return {step, wait};
}

Look control_plane_look(const config::InstallConfig& config) {
  const int expected = config.control_plane.replicas;
  const config::PlatformRow* platform = config::find_platform_row(config.platform.type);
  if (platform == nullptr || !platform->names_nodes) {
    return [expected](const kube::Objects& found) { return too_few_control_plane_nodes(found, expected); };
  }
  std::vector<std::string> names;
  for (int i = 0; i < expected; ++i) names.push_back(fmt::format("master-{}", i));
  return [names](const kube::Objects& found) { return missing_nodes(found, names, "master"); };
}

Condition nodes_ready(Step step, const config::InstallConfig& config) {
  return watched(step, kube::types::nodes, "", "", control_plane_look(config));
}

Missing bootstrap_incomplete(const kube::Objects& found) {
  if (found.empty()) return "the bootstrap machine has not created ConfigMap kube-system/bootstrap";
  if (find_string(found.front(), {"data", "status"}) == "complete") return std::nullopt;
  return "ConfigMap kube-system/bootstrap: status is not complete";
}

Missing bootstrap_member_exists(const kube::Objects& found) {
  if (found.empty()) return "etcds.operator.openshift.io/cluster does not exist";
  if (kube::condition_status(found.front(), "EtcdBootstrapMemberRemoved") == "True") return std::nullopt;
  return "the etcd operator has not removed member etcd-bootstrap";
}

// The API is served before every control plane node runs an API server.
Missing too_few_api_servers(const kube::Objects& found, int expected) {
  if (found.empty()) return "kubeapiservers.operator.openshift.io/cluster does not exist";
  int ready = 0;
  for (const Json& node : find_array(found.front(), {"status", "nodeStatuses"}))
    ready += find(node, {"currentRevision"}) != nullptr;
  if (ready >= expected) return std::nullopt;
  return fmt::format("{} of {} API servers are ready", ready, expected);
}

// Waits for the workers of the machine table. The installer writes the table; workers may be added or removed later.
Result<> wait_for_workers(const sys::Context& context, kube::Api& api, const DelayReason& delay_reason, Milliseconds limit) {
  std::vector<std::string> workers;
  TRY(kube::wait_until(context, api, "the machine table", limit, kube::types::config_maps, std::string(kube::machine_table_space),
                       {.fields = fmt::format("metadata.name={}", kube::machine_table_name)},
                       [&](const kube::Objects& found) -> Result<Missing> {
                         if (!found.empty())
                           workers = kube::names_with_role(TRY(kube::parse_machine_table(found.front())), "worker");
                         return Missing(std::nullopt);
                       }));
  if (workers.empty()) return Ok{};
  const Condition ready = watched(Step::worker_nodes, kube::types::nodes, "", "",
                                  [workers](const kube::Objects& found) { return missing_nodes(found, workers, "worker"); });
  return ready.wait(context, api, delay_reason, limit);
}

}  // namespace

std::optional<std::string> missing_nodes(const std::vector<Json>& nodes, const std::vector<std::string>& expected,
                                         std::string_view role) {
  const std::string label = kube::role_label(role);
  std::vector<std::string> missing;
  for (const std::string& name : expected) {
    const auto node = std::ranges::find_if(nodes, [&](const Json& candidate) { return kube::name_of(candidate) == name; });
    if (node == nodes.end()) {
      missing.push_back(fmt::format("node {} is not registered", name));
    } else if (kube::condition_status(*node, "Ready") != "True") {
      missing.push_back(fmt::format("node {} is not Ready", name));
    } else if (!kube::has_role(*node, label)) {
      missing.push_back(fmt::format("node {} does not have the role {}", name, role));
    }
  }
  if (missing.empty()) return std::nullopt;
  return join(missing, ", ");
}

std::optional<std::string> too_few_control_plane_nodes(const std::vector<Json>& nodes, int expected) {
  const std::string master = kube::role_label("master"), worker = kube::role_label("worker");
  int ready = 0;
  std::vector<std::string> reasons;
  for (const Json& node : nodes) {
    if (!kube::has_role(node, master)) {
      if (!kube::has_role(node, worker)) reasons.push_back(fmt::format("node {} has no role", kube::name_of(node)));
    } else if (kube::condition_status(node, "Ready") == "True") {
      ++ready;
    } else {
      reasons.push_back(fmt::format("node {} is not Ready", kube::name_of(node)));
    }
  }
  if (ready >= expected) return std::nullopt;
  const std::string counted = fmt::format("{} of {} control plane nodes are Ready", ready, expected);
  return reasons.empty() ? counted : fmt::format("{}: {}", counted, join(reasons, ", "));
}

std::optional<std::string> unsettled_operators(const std::vector<Json>& operators) {
  if (operators.empty()) return "no ClusterOperator exists yet";
  std::vector<std::string> unsettled;
  for (const Json& each : operators) {
    const auto says = [&](std::string_view type, std::string_view what) {
      const std::string_view words = kube::condition_text(each, type, "message");
      unsettled.push_back(fmt::format("{} is {}{}{}", kube::name_of(each), what, words.empty() ? "" : ": ", words));
    };
    if (kube::condition_status(each, "Available") != "True") {
      says("Available", "not Available");
    } else if (kube::condition_status(each, "Degraded") == "True") {
      says("Degraded", "Degraded");
    } else if (kube::condition_status(each, "Progressing") == "True") {
      says("Progressing", "Progressing");
    }
  }
  if (unsettled.empty()) return std::nullopt;
  return join(unsettled, "; ");
}

bool all_are_healthy(const std::vector<Json>& operators) {
  return !operators.empty() && std::ranges::all_of(operators, [](const Json& each) {
    return kube::condition_status(each, "Available") == "True" && kube::condition_status(each, "Degraded") != "True";
  });
}

std::vector<OperatorLine> operator_lines(const std::vector<Json>& operators) {
  std::vector<OperatorLine> lines;
  for (const Json& each : operators) {
    for (const Json& condition : find_array(each, {"status", "conditions"})) {
      const std::string_view type = find_string(condition, {"type"}).value_or("");
      const std::string_view status = find_string(condition, {"status"}).value_or("");
      const bool is_well = status == (type == "Available" ? "True" : "False");
      const bool can_be_well =
          type == "Available" || type == "Degraded" || type == "Progressing" || type == kube::settings_ignored;
      if (type == "Upgradeable" || (can_be_well && is_well)) continue;
      const std::string_view reason = find_string(condition, {"reason"}).value_or("");
      const std::string_view words = find_string(condition, {"message"}).value_or("");
      lines.push_back({type == "Available" || type == "Degraded" ? Level::error : Level::info,
                       fmt::format("cluster operator {}: {} is {}{}{}{}{}", kube::name_of(each), type, status,
                                   reason.empty() ? "" : " with reason ", reason, words.empty() ? "" : ": ", words)});
    }
  }
  return lines;
}

std::vector<std::string> ignored_settings(const std::vector<Json>& operators) {
  std::vector<std::string> lines;
  for (const Json& each : operators) {
    if (kube::condition_status(each, kube::settings_ignored) != "True") continue;
    lines.push_back(fmt::format("cluster operator {}: {}", kube::name_of(each),
                                kube::condition_text(each, kube::settings_ignored, "message")));
  }
  return lines;
}

std::optional<std::string> not_available(const Json& cluster_version) {
  const bool fails = kube::condition_status(cluster_version, "Failing") == "True";
  if (!fails && kube::condition_status(cluster_version, "Available") == "True") return std::nullopt;
  const std::string_view words = kube::condition_text(cluster_version, fails ? "Failing" : "Progressing", "message");
  return words.empty() ? "ClusterVersion has no status yet" : std::string(words);
}

std::vector<Condition> bootstrap_conditions(const config::InstallConfig& config) {
  return {
      {Step::kubernetes_api, wait_for_api},
      nodes_ready(Step::control_plane_nodes, config),
      watched(Step::bootstrap_complete, kube::types::config_maps, "kube-system", "bootstrap", bootstrap_incomplete),
      watched(Step::bootstrap_member, kube::types::etcds, "", "cluster", bootstrap_member_exists),
  };
}

std::vector<Condition> install_conditions(const config::InstallConfig& config) {
  std::vector<Condition> conditions = {
      nodes_ready(Step::nodes_ready, config),
      watched(Step::api_servers, kube::types::kube_apiservers, "", "cluster",
              [expected = config.control_plane.replicas](const kube::Objects& found) {
                return too_few_api_servers(found, expected);
              }),
      watched(Step::cluster_operators, kube::types::cluster_operators, "", "", unsettled_operators),
      watched(Step::cluster_version, kube::types::cluster_versions, "", "version",
              [](const kube::Objects& found) -> Missing {
                return found.empty() ? "ClusterVersion does not exist" : not_available(found.front());
              }),
  };
  if (config.compute_replicas() > 0) conditions.insert(conditions.begin() + 2, {Step::worker_nodes, wait_for_workers});
  return conditions;
}

Result<> wait_for_all(const sys::Context& context, kube::Api& api, const std::vector<Condition>& conditions,
                      const DelayReason& delay_reason, Steps& steps) {
  for (const Condition& condition : conditions) {
    TRY(steps.run(context, condition.step,
                  [&] { return condition.wait(context, api, delay_reason, steps.limit_of(condition.step)); }));
  }
  return Ok{};
}

}  // namespace slipway::cluster
