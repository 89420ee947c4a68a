#include "cluster/cluster_events.h"

#include <fmt/core.h>

namespace slipway::cluster {

sys::Event operator_event(const Json& event, WallTime now) {
  const std::string component(find_string(event, {"source", "component"}).value_or(""));
  JsonObject fields = {{"description", find_string(event, {"message"}).value_or("")}};
  if (find_string(event, {"type"}) == "Warning") fields["is_warning"] = true;
  return {.time = now,
          .source = component,
          .kind = "operator",
          .name = fmt::format("{} {}", find_string(event, {"involvedObject", "kind"}).value_or(""),
                              find_string(event, {"reason"}).value_or("")),
          .phase = sys::Phase::finished,
          .fields = std::move(fields)};
}

void ClusterEvents::see(const sys::Context& context, WallTime since, const kube::Objects& events) {
  for (const Json& event : events) {
    const std::string version(find_string(event, {"metadata", "resourceVersion"}).value_or(""));
    const bool is_news = told_.with_lock([&](auto& told) {
      std::string& known = told[fmt::format("{}/{}", kube::namespace_of(event), kube::name_of(event))];
      return std::exchange(known, version) != version;
    });
    const Result<WallTime> time = parse_rfc3339(find_string(event, {"lastTimestamp"}).value_or(""));
    const bool is_old = time.ok() && time.value() < since;
    if (is_news && !is_old) context.events.relay(operator_event(event, context.clock.now()));
  }
}

Result<> ClusterEvents::follow(const sys::Context& context, kube::Api& api) {
  // Events have whole seconds.
  const WallTime since(std::chrono::floor<Seconds>(context.clock.now()));
  return kube::follow(context, api, kube::types::events, "", {.fields = "involvedObject.apiVersion=operator.openshift.io/v1"},
                      [&](const kube::Objects& events) -> Result<> {
                        see(context, since, events);
                        return Ok{};
                      });
}

}  // namespace slipway::cluster
