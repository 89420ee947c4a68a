#include "components/machine_config_operator/pools.h"

#include "base/number.h"
#include "base/text.h"
#include "components/controller/bootstrap_complete.h"
#include "components/controller/conditions.h"
#include "components/controller/operand.h"
#include "kube/conditions.h"
#include "kube/roles.h"
#include "machineconfig/labels.h"
#include "machineconfig/machine_state.h"
#include "machineconfig/node_annotations.h"
#include "machineconfig/selector.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace slipway::components::machine_config_operator {

namespace {

namespace types = kube::types;
namespace mc = machineconfig;

constexpr std::string_view zone_label = "topology.kubernetes.io/zone";
constexpr std::size_t max_listed_nodes = 3;

// Pods that must be Ready on all masters before a master may change: namespace, and the prefix of the name before the node's
// name.
struct ControlPlanePod {
  std::string_view space, prefix;
};
constexpr std::array control_plane_pods = {ControlPlanePod{"openshift-etcd", "etcd-"},
                                           ControlPlanePod{"openshift-kube-apiserver", "kube-apiserver-"}};

std::string annotation_of(const Json& node, std::string_view key) { return text_of(node, {"metadata", "annotations", key}); }

const JsonObject& labels_of(const Json& object) { return find_object(object, {"metadata", "labels"}); }

// A pool with an empty selector has no nodes.
bool has_node(const Json& pool, const JsonObject& labels) {
  const Json* selector = find(pool, {"spec", "nodeSelector"});
  return selector && selector->is_object() && !selector->get_object().empty() && mc::selects(selector, labels);
}

std::string pool_of(const PoolNode& node, const std::vector<const Json*>& pools, std::vector<Notice>& notices) {
  const JsonObject& labels = labels_of(*node.object);
  std::set<std::string> names;
  for (const Json* pool : pools) {
    if (has_node(*pool, labels)) names.emplace(kube::name_of(*pool));
  }
  if (node.is_master) return names.contains("master") ? "master" : "";
  names.erase("master");
  if (names.size() > 1) names.erase("worker");
  if (names.size() == 1) return *names.begin();
  if (!names.empty()) {
    notices.push_back({*node.object, "TooManyPools",
                       fmt::format("node {} is selected by pools {} and keeps its config until only one pool selects it",
                                   node.name, join({names.begin(), names.end()}, ", ")),
                       true});
  }
  return "";
}

mc::MachineState desired_of(const PoolNode& node) { return {.config = node.desired, .image = node.desired_image}; }

// Why a node is unavailable; empty when it is available.
std::string why_unavailable(const PoolNode& node) {
  if (node.is_failing()) return fmt::format("is {}: {}", node.state, node.reason);
  if (!node.is_ready) return "is not Ready";
  if (!node.drain.empty()) return node.drain;
  if (node.current.empty()) return "has not reported its config yet";
  if (node.current != node.desired || node.current_image != node.desired_image || node.state != mc::state_done) {
    return fmt::format("is updating to {} ({})", desired_of(node).text(), node.state);
  }
  return node.is_cordoned ? "is cordoned" : "";
}

bool is_at(const PoolNode& node, std::string_view config, std::string_view image) {
  return node.state == mc::state_done && node.current == config && node.desired == config && node.current_image == image &&
         node.desired_image == image;
}

// Why this master must not stop serving now; nothing when it may. A master that is unavailable already is not checked itself.
std::optional<std::string> why_masters_wait(const PoolNode& own, const std::vector<PoolNode>& nodes, const Snapshot& seen) {
  for (const PoolNode& node : nodes) {
    if (!node.is_master || (node.name == own.name && !own.is_available())) continue;
    if (const std::string why = why_unavailable(node); !why.empty()) return fmt::format("{} {}", node.name, why);
    for (const ControlPlanePod& each : control_plane_pods) {
      const std::string pod = fmt::format("{}{}", each.prefix, node.name);
      const Json* object = seen.find(types::pods, each.space, pod);
      if (!object || kube::condition_status(*object, "Ready") != "True") {
        return fmt::format("Pod {}/{} is not Ready", each.space, pod);
      }
    }
  }
  return std::nullopt;
}

struct PoolView {
  const Json* object;
  std::string name;
  std::string target;  // spec.configuration
  bool is_paused;
  const PoolImage* image = nullptr;  // in image mode
  std::vector<const PoolNode*> nodes{};

  // Whether nodes may get the target: in image mode its image exists.
  bool has_target() const { return !target.empty() && (!image || !image->image.empty()); }
  std::string target_image() const { return image ? image->image : ""; }
  mc::MachineState target_state() const { return {.config = target, .image = target_image()}; }
  bool is_done(const PoolNode& node) const { return has_target() && is_at(node, target, target_image()); }
};

struct NextNodes {
  std::vector<const PoolNode*> chosen;  // they get the target now
  std::vector<const PoolNode*> coming;  // after these
  std::string waits_for;                // why other masters do not get it
};

NextNodes next_nodes(const PoolView& pool, const std::vector<PoolNode>& all, const Snapshot& seen, std::string_view own_node) {
  NextNodes next;
  std::vector<const PoolNode*> candidates;
  const int most = max_unavailable(*pool.object, static_cast<int>(pool.nodes.size()));
  int capacity = most;
  const auto may_stop = [&](const PoolNode& node) {
    if (!node.is_master) return true;
    const std::optional<std::string> why = why_masters_wait(node, all, seen);
    if (why) next.waits_for = *why;
    return !why;
  };
  for (const PoolNode* node : pool.nodes) {
    if (!node->is_available()) --capacity;
    const bool is_set = node->desired == pool.target && node->desired_image == pool.target_image();
    if (is_set || node->current.empty()) continue;
    if ((node->is_failing() || node->waits_for_drain) && node->is_ready) {
      if (may_stop(*node)) next.chosen.push_back(node);
    } else if (node->is_available()) {
      candidates.push_back(node);
    }
  }
  std::ranges::sort(candidates, {}, [&](const PoolNode* node) {
    const bool comes_last = node->is_master && node->name == own_node;
    return std::tuple(comes_last, std::string_view(node->zone), std::string_view(node->created), std::string_view(node->name));
  });
  for (const PoolNode* node : candidates) {
    if (capacity > 0 && may_stop(*node)) {
      next.chosen.push_back(node);
      --capacity;
    } else if (std::ssize(next.coming) < most) {
      next.coming.push_back(node);
    }
  }
  return next;
}

// "worker-0 is not Ready; worker-1 goes to ... (Working)"
std::string describe_unavailable(const std::vector<const PoolNode*>& nodes) {
  std::vector<std::string> reasons;
  std::size_t all = 0;
  for (const PoolNode* node : nodes) {
    const std::string why = why_unavailable(*node);
    if (why.empty() || ++all > max_listed_nodes) continue;
    reasons.push_back(fmt::format("{} {}", node->name, why));
  }
  if (all > max_listed_nodes) reasons.push_back(fmt::format("and {} more", all - max_listed_nodes));
  return join(reasons, "; ");
}

Json with_status(const PoolView& pool, const PoolRender& render, const std::string& waits_for, WallTime now) {
  int updated = 0, ready = 0, unavailable = 0;
  std::vector<std::string> failing;
  for (const PoolNode* node : pool.nodes) {
    const bool is_updated = pool.is_done(*node);
    updated += is_updated;
    ready += is_updated && node->is_ready && !node->is_cordoned;
    unavailable += !node->is_available();
    if (node->is_failing()) failing.push_back(fmt::format("Node {} is {}: {}", node->name, node->state, node->reason));
  }
  const int all = static_cast<int>(pool.nodes.size());
  const bool is_updated = pool.has_target() && ready == all && unavailable == 0;
  const std::string image_problem = pool.image ? pool.image->problem : "";
  const bool waits_for_image = !pool.target.empty() && !pool.has_target();
  const bool is_degraded = !failing.empty() || !render.problem.empty() || !image_problem.empty();

  Condition updated_condition{.type = "Updated", .is_true = is_updated, .reason = "AsExpected"};
  Condition updating{.type = "Updating", .is_true = !is_updated && !pool.is_paused && !waits_for_image};
  if (is_updated) {
    updated_condition.message = fmt::format("all {} machines have {}", all, pool.target_state().text());
  } else {
    updated_condition.reason = updating.reason = pool.target.empty() ? "NotRendered"
                                                 : waits_for_image   ? waits_for_image_reason
                                                 : pool.is_paused    ? "Paused"
                                                                     : "Updating";
    updating.message = pool.target.empty() ? "no config is rendered yet"
                       : waits_for_image   ? fmt::format("{} waits for {}", pool.target,
                                                       image_problem.empty() ? pool.image->waits_for : "its image")
                                           : fmt::format("{} of {} machines have {}", updated, all, pool.target_state().text());
    if (pool.is_paused) updating.message += "; the pool is paused";
    if (const std::string details = describe_unavailable(pool.nodes); !details.empty()) updating.message += "; " + details;
    if (!waits_for.empty()) updating.message += "; the next node waits for " + waits_for;
  }
  Condition node_degraded{.type = "NodeDegraded", .is_true = !failing.empty()};
  if (node_degraded.is_true) {
    node_degraded.reason = fmt::format("{} nodes are reporting degraded status on sync", failing.size());
    node_degraded.message = join(failing, "; ");
  }
  Condition render_degraded{.type = "RenderDegraded", .is_true = !render.problem.empty(), .message = render.problem};
  if (render_degraded.is_true) render_degraded.reason = "RenderFailed";
  Condition image_degraded{.type = "ImageBuildDegraded", .is_true = !image_problem.empty(), .message = image_problem};
  if (image_degraded.is_true) image_degraded.reason = "BuildFailed";
  Condition degraded{.type = "Degraded", .is_true = is_degraded};
  if (is_degraded) {
    const Condition& cause = render_degraded.is_true ? render_degraded : image_degraded.is_true ? image_degraded : node_degraded;
    degraded.reason = cause.type;
    degraded.message = cause.message;
  }

  std::vector<Condition> conditions = {updated_condition, updating, node_degraded, render_degraded, degraded};
  // A pool that was never in image mode does not have it.
  if (pool.image || kube::find_condition(*pool.object, image_degraded.type)) conditions.push_back(image_degraded);
  Json object = with_conditions(*pool.object, conditions, now);
  JsonObject& status = object.as_object()["status"].as_object();
  status["machineCount"] = all;
  status["updatedMachineCount"] = updated;
  status["readyMachineCount"] = ready;
  status["unavailableMachineCount"] = unavailable;
  status["degradedMachineCount"] = static_cast<int>(failing.size());
  if (const Json* generation = find(*pool.object, {"metadata", "generation"})) status["observedGeneration"] = *generation;
  if (is_updated && !is_degraded) status["configuration"] = pool.object->at("spec").at("configuration");
  return object;
}

std::vector<PoolView> pools_of(const Snapshot& seen, const std::vector<PoolNode>& nodes, const PoolImages& images) {
  std::vector<PoolView> pools;
  for (const Json* object : seen.list(types::machine_config_pools)) {
    PoolView pool{object, std::string(kube::name_of(*object)), text_of(*object, {"spec", "configuration", "name"}),
                  is_true(*object, {"spec", "paused"})};
    if (const auto found = images.find(pool.name); found != images.end()) pool.image = &found->second;
    for (const PoolNode& node : nodes) {
      if (node.pool == pool.name) pool.nodes.push_back(&node);
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

// The node's taints with or without the master taint; nothing when they need no change.
std::optional<JsonArray> taints_with(const Json& node, bool wanted) {
  JsonArray taints = find_array(node, {"spec", "taints"});
  const auto is_it = [](const Json& taint) {
    return find_string(taint, {"key"}) == kube::master_label && find_string(taint, {"effect"}) == "NoSchedule";
  };
  const auto found = std::find_if(taints.begin(), taints.end(), is_it);
  if ((found != taints.end()) == wanted) return std::nullopt;
  if (wanted) {
    taints.push_back(JsonObject{{"key", kube::master_label}, {"effect", "NoSchedule"}});
  } else {
    taints.erase(found);
  }
  return taints;
}

JsonObject metadata_of_patch(const Json& node) {
  JsonObject metadata;
  if (const auto version = find_string(node, {"metadata", "resourceVersion"})) metadata["resourceVersion"] = *version;
  return metadata;
}

NodeChange change_node(const PoolNode& node, std::string task_name, JsonObject annotations) {
  JsonObject metadata = metadata_of_patch(*node.object);
  metadata["annotations"] = std::move(annotations);
  return {node.name, JsonObject{{"metadata", std::move(metadata)}}, std::move(task_name)};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// The annotations that tell a node what it will get, or remove that if it gets nothing; none if it has them.
JsonObject announcement(const PoolNode& node, const mc::MachineState& coming) {
  if (node.coming == coming.config && node.coming_image == coming.image) return {};
  return {{mc::coming_config, text_or_null(coming.config)}, {mc::coming_image, text_or_null(coming.image)}};
}

}  // namespace

bool PoolNode::is_failing() const { return state == mc::state_degraded || state == mc::state_unreconcilable; }

bool PoolNode::is_available() const { return why_unavailable(*this).empty(); }

std::vector<PoolNode> pool_nodes(const Snapshot& seen, std::vector<Notice>& notices) {
  const std::vector<const Json*> pools = seen.list(types::machine_config_pools);
  std::vector<PoolNode> nodes;
  for (const Json* object : seen.list(types::nodes)) {
    const JsonObject& labels = labels_of(*object);
    PoolNode node{.object = object,
                  .name = std::string(kube::name_of(*object)),
                  .zone = text_of(*object, {"metadata", "labels", zone_label}),
                  .created = text_of(*object, {"metadata", "creationTimestamp"}),
                  .current = annotation_of(*object, mc::current_config),
                  .desired = annotation_of(*object, mc::desired_config),
                  .state = annotation_of(*object, mc::daemon_state),
                  .reason = annotation_of(*object, mc::daemon_reason),
                  .current_image = annotation_of(*object, mc::current_image),
                  .desired_image = annotation_of(*object, mc::desired_image),
                  .coming = annotation_of(*object, mc::coming_config),
                  .coming_image = annotation_of(*object, mc::coming_image),
                  .is_master = labels.contains(kube::master_label) || labels.contains(kube::control_plane_label),
                  .is_ready = kube::condition_status(*object, "Ready") == "True",
                  .is_cordoned = is_true(*object, {"spec", "unschedulable"})};
    const std::string asked = annotation_of(*object, mc::desired_drain);
    node.waits_for_drain =
        node.state == mc::state_working && asked.starts_with("drain-") && asked != annotation_of(*object, mc::last_applied_drain);
    if (const Json* drain = seen.find(node_drains, "", node.name)) node.drain = find_string(*drain, {"message"}).value_or("");
    node.pool = pool_of(node, pools, notices);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

int max_unavailable(const Json& pool, int nodes) {
  const Json* value = find(pool, {"spec", "maxUnavailable"});
  int number = 1;
  if (value && value->is_string()) {
    std::string_view text = value->get_string();
    number = take_number<int>(text).value_or(number);
    if (text.ends_with('%')) number = number * nodes / 100;
  } else if (value) {
    number = integer_of(pool, {"spec", "maxUnavailable"});
  }
  if (kube::name_of(pool) == "master") number = std::min(number, 1);
  return std::max(number, 1);
}

PoolsPlan plan_pools(const Snapshot& seen, const std::map<std::string, PoolRender, std::less<>>& renders,
                     const PoolImages& images, std::string_view own_node, WallTime now) {
  PoolsPlan made;
  const std::vector<PoolNode> nodes = pool_nodes(seen, made.plan.notices);
  const bool may_change = bootstrap_is_complete(seen);
  for (const PoolView& pool : pools_of(seen, nodes, images)) {
    const auto found = renders.find(pool.name);
    const PoolRender render = found == renders.end() ? PoolRender{} : found->second;
    NextNodes next;
    if (may_change && !render.is_settling) {
      if (!pool.is_paused && pool.has_target()) next = next_nodes(pool, nodes, seen, own_node);
      for (const PoolNode* node : pool.nodes) {
        if (std::ranges::find(next.chosen, node) != next.chosen.end()) continue;
        const bool is_coming = std::ranges::find(next.coming, node) != next.coming.end();
        JsonObject annotations = announcement(*node, is_coming ? pool.target_state() : mc::MachineState{});
        if (annotations.empty()) continue;
        made.changes.push_back(
            change_node(*node, fmt::format("announcing the next config of {}", node->name), std::move(annotations)));
      }
      for (const PoolNode* node : next.chosen) {
        const std::string image = pool.target_image(), target = pool.target_state().text();
        JsonObject annotations = announcement(*node, {});
        annotations[mc::desired_config] = pool.target;
        if (node->desired_image != image) annotations[mc::desired_image] = text_or_null(image);
        made.changes.push_back(
            change_node(*node, fmt::format("setting the config of {} to {}", node->name, target), std::move(annotations)));
        made.plan.notices.push_back({*pool.object, "SetDesiredConfig",
                                     fmt::format("node {} gets {} instead of {}", node->name, target, desired_of(*node).text())});
      }
    }
    Json object = with_status(pool, render, next.waits_for, now);
    if (find_object(object, {"status"}) != find_object(*pool.object, {"status"})) {
      made.plan.desired_objects.push_back({types::machine_config_pools, std::move(object), DesiredObject::How::status});
    }
  }
  std::ranges::move(machine_config_nodes(nodes, seen, now), std::back_inserter(made.plan.desired_objects));
  return made;
}

std::vector<NodeChange> plan_schedulable_masters(const Snapshot& seen) {
  std::vector<NodeChange> changes;
  const Json* scheduler = seen.find(types::schedulers, "", "cluster");
  if (!scheduler) return changes;
  const bool is_schedulable = is_true(*scheduler, {"spec", "mastersSchedulable"});
  for (const Json* node : seen.list(types::nodes)) {
    if (!labels_of(*node).contains(kube::master_label)) continue;
    JsonObject metadata = metadata_of_patch(*node);
    JsonObject patch;
    const bool is_worker = labels_of(*node).contains(kube::worker_label);
    if (is_worker != is_schedulable) metadata["labels"] = JsonObject{{kube::worker_label, is_schedulable ? Json("") : Json()}};
    std::optional<JsonArray> taints = taints_with(*node, !is_schedulable);
    if (is_worker == is_schedulable && !taints) continue;
    patch["metadata"] = std::move(metadata);
    if (taints) patch["spec"] = JsonObject{{"taints", *std::move(taints)}};
    const std::string_view name = kube::name_of(*node);
    changes.push_back({std::string(name), std::move(patch),
                       fmt::format("allowing {} to run {} pods", name, is_schedulable ? "ordinary" : "only control plane")});
  }
  return changes;
}

std::vector<DesiredObject> machine_config_nodes(const std::vector<PoolNode>& nodes, const Snapshot& seen, WallTime now) {
  std::vector<DesiredObject> desired_objects;
  for (const PoolNode& node : nodes) {
    if (node.pool.empty() || node.desired.empty()) continue;
    Json object = {
        {"apiVersion", mc::api_version},
        {"kind", "MachineConfigNode"},
        {"metadata", {{"name", node.name}}},
        {"spec",
         {{"node", {{"name", node.name}}}, {"pool", {{"name", node.pool}}}, {"configVersion", {{"desired", node.desired}}}}}};
    desired_objects.push_back({types::machine_config_nodes, std::move(object)});
    const Json* there = seen.find(types::machine_config_nodes, "", node.name);
    if (!there) continue;
    const bool is_updated = is_at(node, node.desired, node.desired_image);
    Condition updated{.type = "Updated", .is_true = is_updated, .reason = is_updated ? "Updated" : "Updating"};
    updated.message = is_updated ? fmt::format("has {}", desired_of(node).text()) : why_unavailable(node);
    Condition degraded{
        .type = "NodeDegraded", .is_true = node.is_failing(), .reason = node.is_failing() ? node.state : "AsExpected"};
    degraded.message = node.is_failing() ? node.reason : "";
    Json status_object = with_conditions(*there, {updated, degraded}, now);
    JsonObject version = {{"desired", node.desired}};
    if (!node.current.empty()) version["current"] = node.current;
    status_object.as_object()["status"].as_object()["configVersion"] = std::move(version);
    desired_objects.push_back({types::machine_config_nodes, std::move(status_object), DesiredObject::How::status});
  }
  return desired_objects;
}

}  // namespace slipway::components::machine_config_operator
