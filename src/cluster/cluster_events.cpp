#include "cluster/cluster_events.h"

#include "kube/conditions.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

namespace {

constexpr const char* operator_kind = "operator";
constexpr const char* node_kind = "node";
constexpr const char* cluster_operator_kind = "cluster-operator";

// An Event whose count increases has another resourceVersion, so it is relayed again.
std::string id_of(const Json& event) {
  return fmt::format("{}/{}", find_string(event, {"metadata", "uid"}).value_or(""),
                     find_string(event, {"metadata", "resourceVersion"}).value_or(""));
}

std::set<std::string> ids_of(const std::vector<sys::Event>& events) {
  std::set<std::string> ids;
  for (const sys::Event& event : events) {
    const bool is_told_here = event.kind == operator_kind || event.kind == node_kind || event.kind == cluster_operator_kind;
    const Json* id = is_told_here ? event.fields.if_contains("id") : nullptr;
    if (id && id->is_string()) ids.emplace(id->get_string());
  }
  return ids;
}

// An event from before the watch started keeps its own time. Kubernetes times are whole seconds.
WallTime time_of(std::string_view text, WallTime start, WallTime now) {
  const Result<WallTime> happened = parse_rfc3339(text);
  return happened.ok() && happened.value() < start ? happened.value() : now;
}

WallTime second_of(WallTime time) { return WallTime(std::chrono::floor<Seconds>(time)); }

}  // namespace

sys::Event operator_event(const Json& event, WallTime time) {
  const std::string component(find_string(event, {"source", "component"}).value_or(""));
  JsonObject fields = {{"description", find_string(event, {"message"}).value_or("")}, {"id", id_of(event)}};
  if (find_string(event, {"type"}) == "Warning") fields["is_warning"] = true;
  return {.time = time,
          .source = component,
          .kind = operator_kind,
          .name = fmt::format("{} {}", find_string(event, {"involvedObject", "kind"}).value_or(""),
                              find_string(event, {"reason"}).value_or("")),
          .phase = sys::Phase::finished,
          .fields = std::move(fields)};
}

std::optional<sys::Event> condition_event(const Json& object, std::string_view condition, std::string_view kind,
                                          std::string words, WallTime time) {
  for (const Json& each : find_array(object, {"status", "conditions"})) {
    if (find_string(each, {"type"}) != condition || find_string(each, {"status"}) != "True") continue;
    const std::string name(kube::name_of(object));
    return sys::Event{
        .time = time,
        .source = "kubernetes",
        .kind = std::string(kind),
        .name = name,
        .phase = sys::Phase::finished,
        .fields = {{"description", std::move(words)},
                   {"id", fmt::format("{}/{}/{}", kind, name, find_string(each, {"lastTransitionTime"}).value_or(""))}}};
  }
  return std::nullopt;
}

std::optional<sys::Event> settled_event(const Json& cluster_operator, WallTime time) {
  const auto holds = [&](std::string_view type, std::string_view status) {
    return kube::condition_status(cluster_operator, type) == status;
  };
  if (!holds("Available", "True") || !holds("Progressing", "False") || holds("Degraded", "True")) return std::nullopt;
  std::string since;
  for (const Json& each : find_array(cluster_operator, {"status", "conditions"})) {
    const std::string_view type = find_string(each, {"type"}).value_or("");
    if (type != "Available" && type != "Progressing") continue;
    since = std::max(since, text_of(each, {"lastTransitionTime"}));
  }
  const std::string name(kube::name_of(cluster_operator));
  return sys::Event{.time = time,
                    .source = "kubernetes",
                    .kind = cluster_operator_kind,
                    .name = name,
                    .phase = sys::Phase::finished,
                    .fields = {{"description", fmt::format("clusteroperator {}: Available, not Progressing", name)},
                               {"id", fmt::format("{}/{}/settled/{}", cluster_operator_kind, name, since)}}};
}

ClusterEvents::ClusterEvents(const std::vector<sys::Event>& earlier) : relayed_ids_(ids_of(earlier)) {}

bool ClusterEvents::is_new(const std::string& id) {
  return relayed_ids_.with_lock([&](auto& ids) { return ids.insert(id).second; });
}

void ClusterEvents::relay_events(const sys::Context& context, WallTime start, const kube::Objects& events) {
  for (const Json& event : events) {
    if (!is_new(id_of(event))) continue;
    const std::string_view happened = find_string(event, {"lastTimestamp"}).value_or("");
    context.events.relay(operator_event(event, time_of(happened, start, context.clock.now())));
  }
}

void ClusterEvents::relay_conditions(const sys::Context& context, WallTime start, const kube::Objects& objects,
                                     std::string_view condition, std::string_view kind) {
  for (const Json& object : objects) {
    std::string words = fmt::format("{} {} is {}", kind == node_kind ? "node" : "operator", kube::name_of(object), condition);
    relay_if_new(context, start, condition_event(object, condition, kind, std::move(words), context.clock.now()));
  }
}

void ClusterEvents::relay_if_new(const sys::Context& context, WallTime start, std::optional<sys::Event> event) {
  if (!event) return;
  const std::string id(event->fields.at("id").as_string());
  if (!is_new(id)) return;
  event->time = time_of(std::string_view(id).substr(id.rfind('/') + 1), start, event->time);
  context.events.relay(*event);
}

Result<> ClusterEvents::follow(const sys::Context& context, kube::Api& api) {
  const WallTime start = second_of(context.clock.now());
  return kube::follow(context, api, kube::types::events, "", {.fields = "involvedObject.apiVersion=operator.openshift.io/v1"},
                      [&](const kube::Objects& events) -> Result<> {
                        relay_events(context, start, events);
                        return Ok{};
                      });
}

Result<> ClusterEvents::follow_nodes(const sys::Context& context, kube::Api& api) {
  const WallTime start = second_of(context.clock.now());
  return kube::follow(context, api, kube::types::nodes, "", {}, [&](const kube::Objects& nodes) -> Result<> {
    relay_conditions(context, start, nodes, "Ready", node_kind);
    return Ok{};
  });
}

Result<> ClusterEvents::follow_operators(const sys::Context& context, kube::Api& api) {
  const WallTime start = second_of(context.clock.now());
  return kube::follow(context, api, kube::types::cluster_operators, "", {}, [&](const kube::Objects& operators) -> Result<> {
    relay_conditions(context, start, operators, "Available", cluster_operator_kind);
    for (const Json& each : operators) relay_if_new(context, start, settled_event(each, context.clock.now()));
    return Ok{};
  });
}

}  // namespace slipway::cluster
