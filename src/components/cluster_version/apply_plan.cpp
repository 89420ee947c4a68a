#include "components/cluster_version/apply_plan.h"

#include "base/number.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace slipway::components::cluster_version {

namespace {

std::string_view group_of(const Json& object) {
  const std::string_view api_version = find_string(object, {"apiVersion"}).value_or("");
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

bool is_overridden(const Json& object, const JsonArray& overrides) {
  return std::ranges::any_of(overrides, [&](const Json& each) {
    const auto text = [&](std::string_view key) { return find_string(each, {key}).value_or(""); };
    const Json* unmanaged = find(each, {"unmanaged"});
    return unmanaged && *unmanaged == Json(true) && text("kind") == find_string(object, {"kind"}).value_or("") &&
           text("group") == group_of(object) && text("name") == kube::name_of(object) &&
           text("namespace") == kube::namespace_of(object);
  });
}

constexpr int default_run_level = 50;

void set_host(Json& pod_spec, std::string_view host) {
  if (!pod_spec.is_object()) return;
  for (const char* list : {"initContainers", "containers"}) {
    Json* containers = pod_spec.get_object().if_contains(list);
    if (!containers || !containers->is_array()) continue;
    for (Json& container : containers->get_array()) {
      Json* variables = container.is_object() ? container.get_object().if_contains("env") : nullptr;
      if (!variables || !variables->is_array()) continue;
      for (Json& variable : variables->get_array()) {
        if (find_string(variable, {"name"}) == "KUBERNETES_SERVICE_HOST") variable.get_object()["value"] = host;
      }
    }
  }
}

// The member at these keys, mutable; null when it is missing.
Json* member(Json& value, std::initializer_list<std::string_view> keys) {
  Json* at = &value;
  for (const std::string_view key : keys) {
    at = at->is_object() ? at->get_object().if_contains(key) : nullptr;
    if (!at) return nullptr;
  }
  return at;
}

// The ClusterOperator to create, before its operator reports a status: it keeps only relatedObjects. The versions in its manifest
// are the versions that the operator has to reach, so they are no status.
Json without_status(Json object) {
  JsonObject& fields = object.as_object();
  const Json* related = find(object, {"status", "relatedObjects"});
  JsonObject status;
  if (related) status["relatedObjects"] = *related;
  fields.erase("status");
  if (!status.empty()) fields["status"] = std::move(status);
  if (!fields.contains("spec")) fields["spec"] = JsonObject();
  return object;
}

// The operators of etcd, the API server, the controller manager and the scheduler have the levels 12, 20 and 25.
constexpr int last_control_plane_level = 29;
// The machine-config operator: workers boot while the control plane starts, and wait for the configs that it serves.
constexpr int machines_level = 80;

// Run levels of objects with a gate, by kind and "namespace/name".
using GateLevels = std::map<std::pair<std::string, std::string>, int>;

std::pair<std::string, std::string> key_of(const Gate& gate) { return {gate.type.kind, gate.space + "/" + gate.name}; }

GateLevels gate_levels(const ApplyPlan& plan) {
  GateLevels levels;
  for (const std::vector<kube::Manifest>* list : {&plan.apply, &plan.create, &plan.remove}) {
    for (const kube::Manifest& manifest : *list) {
      if (const std::optional<Gate> gate = gate_of(manifest.object)) levels[key_of(*gate)] = run_level(manifest.name);
    }
  }
  return levels;
}

}  // namespace

int run_level(std::string_view file_name) {
  const std::string_view prefix = "0000_";
  if (!file_name.starts_with(prefix)) return default_run_level;
  file_name.remove_prefix(prefix.size());
  const std::optional<int> level = take_number<int>(file_name);
  return level && file_name.starts_with('_') ? *level : default_run_level;
}

Json with_api_host(Json object, std::string_view host) {
  if (find_string(object, {"kind"}) == "Pod") {
    if (Json* spec = member(object, {"spec"})) set_host(*spec, host);
    return object;
  }
  if (Json* spec = member(object, {"spec", "template", "spec"})) set_host(*spec, host);
  if (Json* spec = member(object, {"spec", "jobTemplate", "spec", "template", "spec"})) set_host(*spec, host);
  return object;
}

ApplyPlan plan_apply(const std::vector<Manifest>& manifests, const ManifestFilter& filter, const Json& cluster_version,
                     const std::optional<std::string>& api_host) {
  const JsonArray& overrides = find_array(cluster_version, {"spec", "overrides"});
  ApplyPlan plan;
  std::vector<kube::Manifest> others;
  for (const Manifest& manifest : manifests) {
    const Json& object = manifest.object;
    if (reason_to_leave_out(object, filter)) continue;
    if (is_overridden(object, overrides)) {
      ++plan.overridden;
      continue;
    }
    if (annotation(object, "release.openshift.io/delete") == "true") {
      plan.remove.push_back({manifest.path, object});
      continue;
    }
    std::optional<Gate> gate = gate_of(object);
    const bool is_operator = gate && gate->type == kube::types::cluster_operators;
    Json wanted = is_operator ? without_status(object) : api_host ? with_api_host(object, *api_host) : object;
    if (gate) plan.gates.push_back(*std::move(gate));
    const bool is_made_once = annotation(object, "release.openshift.io/create-only") == "true";
    (is_made_once ? plan.create : is_operator ? plan.apply : others).push_back({manifest.path, std::move(wanted)});
  }
  std::ranges::move(others, std::back_inserter(plan.apply));
  return plan;
}

std::vector<ApplyPlan> by_run_level(ApplyPlan plan) {
  std::map<int, ApplyPlan> levels;
  GateLevels level_of = gate_levels(plan);
  const auto move_each = [&](std::vector<kube::Manifest>& from, std::vector<kube::Manifest> ApplyPlan::*to) {
    for (kube::Manifest& manifest : from) {
      const int level = run_level(manifest.name);
      (levels[level].*to).push_back(std::move(manifest));
    }
  };
  move_each(plan.apply, &ApplyPlan::apply);
  move_each(plan.create, &ApplyPlan::create);
  move_each(plan.remove, &ApplyPlan::remove);
  for (Gate& gate : plan.gates) {
    const int level = level_of[key_of(gate)];
    levels[level].gates.push_back(std::move(gate));
  }
  std::vector<ApplyPlan> steps;
  for (auto& [level, step] : levels) steps.push_back(std::move(step));
  if (steps.empty()) steps.emplace_back();
  steps.front().overridden = plan.overridden;
  return steps;
}

std::vector<ApplyPlan> control_plane_first(ApplyPlan plan) {
  GateLevels level_of = gate_levels(plan);
  ApplyPlan rest;
  const auto waits = [](const kube::Manifest& manifest) {
    const std::string_view kind = find_string(manifest.object, {"kind"}).value_or("");
    const int level = run_level(manifest.name);
    return (kind == "Deployment" || kind == "DaemonSet") && level > last_control_plane_level && level != machines_level;
  };
  const auto later = std::stable_partition(plan.apply.begin(), plan.apply.end(), std::not_fn(waits));
  std::move(later, plan.apply.end(), std::back_inserter(rest.apply));
  plan.apply.erase(later, plan.apply.end());
  const auto gates = std::stable_partition(plan.gates.begin(), plan.gates.end(),
                                           [&](const Gate& gate) { return level_of[key_of(gate)] <= last_control_plane_level; });
  std::move(gates, plan.gates.end(), std::back_inserter(rest.gates));
  rest.remove = std::exchange(plan.remove, {});
  plan.gates.erase(gates, plan.gates.end());
  std::vector<ApplyPlan> steps;
  steps.push_back(std::move(plan));
  steps.push_back(std::move(rest));
  return steps;
}

}  // namespace slipway::components::cluster_version
