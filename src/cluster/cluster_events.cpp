#include "cluster/cluster_events.h"

#include <fmt/core.h>

namespace slipway::cluster {

namespace {

constexpr const char* operator_kind = "operator";

// An Event that is counted up has another version, and is told again.
std::string id_of(const Json& event) {
  return fmt::format("{}/{}", find_string(event, {"metadata", "uid"}).value_or(""),
                     find_string(event, {"metadata", "resourceVersion"}).value_or(""));
}

std::set<std::string> ids_of(const std::vector<sys::Event>& events) {
  std::set<std::string> ids;
  for (const sys::Event& event : events) {
    const Json* id = event.kind == operator_kind ? event.fields.if_contains("id") : nullptr;
    if (id && id->is_string()) ids.emplace(id->get_string());
  }
  return ids;
}

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

ClusterEvents::ClusterEvents(const std::vector<sys::Event>& earlier) : told_(ids_of(earlier)) {}

void ClusterEvents::see(const sys::Context& context, WallTime start, const kube::Objects& events) {
  for (const Json& event : events) {
    const bool is_news = told_.with_lock([&](auto& told) { return told.insert(id_of(event)).second; });
    if (!is_news) continue;
    const Result<WallTime> happened = parse_rfc3339(find_string(event, {"lastTimestamp"}).value_or(""));
    const bool is_missed = happened.ok() && happened.value() < start;
    context.events.relay(operator_event(event, is_missed ? happened.value() : context.clock.now()));
  }
}

Result<> ClusterEvents::follow(const sys::Context& context, kube::Api& api) {
  // Events have whole seconds.
  const WallTime start(std::chrono::floor<Seconds>(context.clock.now()));
  return kube::follow(context, api, kube::types::events, "", {.fields = "involvedObject.apiVersion=operator.openshift.io/v1"},
                      [&](const kube::Objects& events) -> Result<> {
                        see(context, start, events);
                        return Ok{};
                      });
}

}  // namespace slipway::cluster
