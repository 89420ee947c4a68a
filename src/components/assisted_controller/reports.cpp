#include "components/assisted_controller/reports.h"

#include "assist/controller.h"
#include "assist/status.h"
#include "base/text.h"
#include "kube/conditions.h"
#include "net/ip.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

namespace slipway::components::assisted_controller {

namespace {

using assist::ClusterStatus;
using assist::HostStatus;
using assist::Stage;

constexpr Milliseconds operators_limit = std::chrono::hours(10);

struct OperatorState {
  std::string name;
  std::string status;  // of the API: "available", "progressing", "failed"
  std::string version{};
  std::string info{};
};

// The addresses in the inventory of a host, which is a JSON document in a string.
std::set<std::string> addresses_of(const Json& host) {
  std::set<std::string> addresses;
  const Result<Json> inventory = parse_json(text_of(host, {"inventory"}), "inventory");
  if (!inventory.ok()) return addresses;
  for (const Json& interface : find_array(inventory.value(), {"interfaces"})) {
    for (const char* family : {"ipv4_addresses", "ipv6_addresses"}) {
      for (const std::string& each : texts_of(interface, {family})) {
        const Result<net::Cidr> address = net::parse_cidr(each);
        if (address.ok()) addresses.insert(net::to_string(address->address));
      }
    }
  }
  return addresses;
}

const Json* node_of(const Json& host, const Snapshot& seen) {
  const std::string name = to_lower(text_of(host, {"requested_hostname"}));
  if (const Json* node = seen.find(kube::types::nodes, "", name)) return node;
  const std::set<std::string> addresses = addresses_of(host);
  for (const Json* node : seen.list(kube::types::nodes)) {
    for (const Json& each : find_array(*node, {"status", "addresses"})) {
      if (text_of(each, {"type"}) == "InternalIP" && addresses.contains(text_of(each, {"address"}))) return node;
    }
  }
  return nullptr;
}

std::optional<Report> report_of_host(const Json& host, const Snapshot& seen) {
  const auto status = assist::find_host_status(text_of(host, {"status"}));
  const auto stage = assist::find_stage(text_of(host, {"progress", "current_stage"}));
  constexpr assist::Set<HostStatus> in_installation = {HostStatus::installing_in_progress,
                                                       HostStatus::installing_pending_user_action};
  if (!status || !in_installation.contains(*status) || !stage || *stage < Stage::rebooting) return std::nullopt;
  const Json* node = node_of(host, seen);
  if (!node) return std::nullopt;
  const Stage reached = kube::condition_status(*node, "Ready") == "True" ? Stage::done : Stage::joined;
  if (reached <= *stage) return std::nullopt;
  return Report{
      .name = fmt::format("reporting host {} as {}", to_utf8(text_of(host, {"requested_hostname"})), assist::to_string(reached)),
      .method = "PUT",
      .path = fmt::format("/v2/infra-envs/{}/hosts/{}/progress", text_of(host, {"infra_env_id"}), text_of(host, {"id"})),
      .body = {{"current_stage", assist::to_string(reached)}, {"progress_info", ""}}};
}

OperatorState state_of_operator(const Json& object) {
  OperatorState state{.name = std::string(kube::name_of(object)), .status = "progressing"};
  for (const Json& each : find_array(object, {"status", "versions"})) {
    if (text_of(each, {"name"}) == "operator") state.version = text_of(each, {"version"});
  }
  if (kube::condition_status(object, "Degraded") == "True") {
    state.status = "failed";
    state.info = kube::condition_text(object, "Degraded", "message");
  } else if (kube::condition_status(object, "Available") == "True") {
    state.status = "available";
  } else {
    state.info = kube::condition_text(object, "Available", "message");
  }
  return state;
}

OperatorState state_of_version(const Snapshot& seen) {
  OperatorState state{.name = "cvo", .status = "progressing", .info = "ClusterVersion version does not exist"};
  const Json* version = seen.find(kube::types::cluster_versions, "", "version");
  if (!version) return state;
  state.version = text_of(*version, {"status", "desired", "version"});
  state.info = kube::condition_text(*version, "Progressing", "message");
  const bool is_available = kube::condition_status(*version, "Available") == "True";
  if (kube::condition_status(*version, "Failing") == "True") {
    state.status = "failed";
    state.info = kube::condition_text(*version, "Failing", "message");
  } else if (is_available && kube::condition_status(*version, "Progressing") != "True") {
    state.status = "available";
  }
  return state;
}

std::vector<OperatorState> states_of_operators(const Snapshot& seen) {
  std::vector<OperatorState> states = {state_of_version(seen)};
  for (const Json* object : seen.list(kube::types::cluster_operators)) states.push_back(state_of_operator(*object));
  return states;
}

bool is_reported(const Json& cluster, const OperatorState& state) {
  const JsonArray& reported = find_array(cluster, {"monitored_operators"});
  return std::ranges::any_of(reported, [&](const Json& each) {
    return text_of(each, {"name"}) == state.name && text_of(each, {"status"}) == state.status &&
           text_of(each, {"version"}) == state.version;
  });
}

std::string cluster_path(const Json& cluster, std::string_view rest) {
  return fmt::format("/v2/clusters/{}/{}", text_of(cluster, {"id"}), rest);
}

Report finalizing_stage(const Json& cluster, std::string_view stage) {
  return {.name = fmt::format("reporting stage '{}'", stage),
          .method = "PUT",
          .path = cluster_path(cluster, "progress"),
          .body = {{"finalizing_stage", stage}}};
}

Report completion(const Json& cluster, bool is_success, const std::string& why) {
  return {.name = "completing the installation",
          .method = "POST",
          .path = cluster_path(cluster, "actions/complete-installation"),
          .body = {{"is_success", is_success}, {"error_info", why}}};
}

std::string router_authority(const Snapshot& seen) {
  const Json* found = seen.find(kube::types::config_maps, router_authority_space, router_authority_name);
  return found ? text_of(*found, {"data", "ca-bundle.crt"}) : "";
}

// What keeps the operators from being complete.
std::vector<std::string> missing_of_operators(const Snapshot& seen, const std::vector<OperatorState>& operators) {
  std::vector<std::string> missing;
  for (const OperatorState& each : operators) {
    if (each.status != "available") missing.push_back(fmt::format("operator {} is {}: {}", each.name, each.status, each.info));
  }
  if (operators.size() < 2) missing.emplace_back("there are no ClusterOperators");
  if (router_authority(seen).empty()) {
    missing.push_back(fmt::format("ConfigMap {}/{} has no ca-bundle.crt", router_authority_space, router_authority_name));
  }
  return missing;
}

// What keeps the hosts from being nodes: those that the service named, and the Nodes that there are.
std::vector<std::string> missing_of_nodes(const ServiceState& service, const Snapshot& seen) {
  std::vector<std::string> missing;
  if (service.hosts.is_array()) {
    for (const Json& host : service.hosts.get_array()) {
      if (!node_of(host, seen))
        missing.push_back(fmt::format("host {} has no Node", to_utf8(text_of(host, {"requested_hostname"}))));
    }
  }
  const std::vector<const Json*> nodes = seen.list(kube::types::nodes);
  if (nodes.empty()) missing.emplace_back("there are no Nodes");
  for (const Json* node : nodes) {
    if (kube::condition_status(*node, "Ready") != "True")
      missing.push_back(fmt::format("node {} is not Ready", kube::name_of(*node)));
  }
  return missing;
}

// The last part of an installation, when all hosts are nodes.
void finalize(const Json& cluster, const Snapshot& seen, const std::vector<OperatorState>& operators, WallTime now,
              Decision& decision) {
  constexpr std::string_view first_stage = "Waiting for cluster operators";
  if (text_of(cluster, {"progress", "finalizing_stage"}).empty()) {
    decision.reports.push_back(finalizing_stage(cluster, first_stage));
  }
  const std::vector<std::string> missing = missing_of_operators(seen, operators);
  if (missing.empty()) {
    decision.reports.push_back(finalizing_stage(cluster, "Adding router ca"));
    decision.reports.push_back({.name = "sending the authority of the routers",
                                .method = "POST",
                                .path = cluster_path(cluster, "uploads/ingress-cert"),
                                .body = Json(router_authority(seen))});
    decision.reports.push_back(finalizing_stage(cluster, "Done"));
    decision.reports.push_back(completion(cluster, true, ""));
    return;
  }
  decision.waits_for = join(missing, "; ");
  const auto since = parse_rfc3339(text_of(cluster, {"progress", "finalizing_stage_started_at"}));
  if (since.ok() && now - since.value() > operators_limit) {
    decision.reports.push_back(
        completion(cluster, false, fmt::format("not available after 10 hours: {}", to_utf8(decision.waits_for))));
  }
}

}  // namespace

JsonObject report_without_service(const ServiceState& service, const Snapshot& seen, const Silence& silence,
                                  const std::string& end) {
  const std::vector<OperatorState> states = states_of_operators(seen);
  std::vector<std::string> missing = missing_of_nodes(service, seen), nodes, operators;
  for (std::string& each : missing_of_operators(seen, states)) missing.push_back(std::move(each));
  for (const Json* node : seen.list(kube::types::nodes)) {
    nodes.push_back(
        fmt::format("{}: {}", kube::name_of(*node), kube::condition_status(*node, "Ready") == "True" ? "Ready" : "not Ready"));
  }
  for (const OperatorState& each : states) operators.push_back(fmt::format("{}: {} {}", each.name, each.status, each.version));
  return {{"summary", missing.empty() ? std::string("The cluster is installed.")
                                      : fmt::format("The cluster is not installed yet: {}", to_utf8(join(missing, "; ")))},
          {"service", fmt::format("has not answered since {}: {}", to_rfc3339(silence.since), to_utf8(silence.reason))},
          {"controller", end.empty() ? std::string("waits for the service, to report this")
                                     : fmt::format("has ended: {} (kubectl delete namespace {} removes what is left of it)", end,
                                                   assist::controller_space)},
          {"nodes", to_utf8(join(nodes, "\n"))},
          {"operators", to_utf8(join(operators, "\n"))}};
}

JsonObject report_with_service() {
  JsonObject report = {{"summary", "The service of the installation answers again, and has the state of this cluster."}};
  for (const char* gone : {"service", "controller", "nodes", "operators"}) report[gone] = nullptr;  // a merge patch removes them
  return report;
}

Decision decide(const ServiceState& service, const Snapshot& seen, WallTime now, WallTime until) {
  if (!service.closed_because.empty()) return {.over_because = service.closed_because};
  if (now >= until) return {.over_because = "the installation has taken too long"};
  const std::string name = text_of(service.cluster, {"status"});
  const auto status = assist::find_cluster_status(name);
  constexpr assist::Set<ClusterStatus> in_installation = {
      ClusterStatus::installing, ClusterStatus::installing_pending_user_action, ClusterStatus::finalizing};
  if (!status || !in_installation.contains(*status)) return {.over_because = fmt::format("the cluster is {}", to_utf8(name))};
  Decision decision;
  int waiting = 0;
  if (service.hosts.is_array()) {
    for (const Json& host : service.hosts.get_array()) {
      if (auto report = report_of_host(host, seen)) decision.reports.push_back(std::move(*report));
      waiting += text_of(host, {"progress", "current_stage"}) != assist::to_string(Stage::done);
    }
  }
  const std::vector<OperatorState> operators = states_of_operators(seen);
  for (const OperatorState& state : operators) {
    if (is_reported(service.cluster, state)) continue;
    decision.reports.push_back(
        {.name = fmt::format("reporting operator {} as {}", state.name, state.status),
         .method = "PUT",
         .path = cluster_path(service.cluster, "monitored-operators"),
         .body = {{"name", state.name}, {"status", state.status}, {"version", state.version}, {"status_info", state.info}}});
  }
  if (*status == ClusterStatus::finalizing) {
    finalize(service.cluster, seen, operators, now, decision);
  } else if (waiting > 0) {
    decision.waits_for = fmt::format("{} hosts are not Done", waiting);
  }
  return decision;
}

bool service_has_left(const Snapshot& seen, std::string_view host) {
  const Json* node = host.empty() ? nullptr : seen.find(kube::types::nodes, "", host);
  return node && kube::condition_status(*node, "Ready") == "True";
}

}  // namespace slipway::components::assisted_controller
