#include "components/cluster_bootstrap/handover.h"

#include "kube/conditions.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>

namespace slipway::components::cluster_bootstrap {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds operators_limit = 30min;
constexpr Milliseconds types_limit = 1min;
constexpr std::string_view component = "cluster-bootstrap";

std::optional<std::string> too_few_nodes(const Json& object, int needed) {
  int nodes = 0;
  for (const Json& node : find_array(object, {"status", "nodeStatuses"})) {
    const Json* revision = find(node, {"currentRevision"});
    if (revision && revision->is_int64() && revision->get_int64() >= 1) ++nodes;
  }
  if (nodes >= needed) return {};
  return fmt::format("{} of {} masters have a revision", nodes, needed);
}

// Before it sets this condition, the etcd operator has moved the leader off this machine.
std::optional<std::string> not_in_cluster(const Json& object, int /*needed*/) {
  const std::string_view status = kube::condition_status(object, "EtcdRunningInCluster");
  if (status == "True") return {};
  return fmt::format("EtcdRunningInCluster is {}", status.empty() ? "not set" : status);
}

// What the object `cluster` of a type needs before the temporary control plane may end.
struct Awaited {
  kube::ResourceType type;
  std::optional<std::string> (*missing)(const Json& object, int needed_masters);
};
const Awaited awaited_operators[] = {
    {kube::types::kube_apiservers, too_few_nodes},
    {kube::types::kube_controller_managers, too_few_nodes},
    {kube::types::kube_schedulers, too_few_nodes},
    {kube::types::etcds, not_in_cluster},
};

Result<> create_all(const sys::Context& context, kube::Api& api, const Handover& work, Milliseconds limit) {
  kube::Mapper mapper(api);
  const SteadyTime start = context.clock.steady();
  std::size_t created = 0;
  std::set<std::string> waited;
  const auto on_outcome = [&](const kube::Manifest& manifest, const kube::Outcome& outcome) {
    using Kind = kube::Outcome::Kind;
    if (outcome.kind == Kind::created) ++created;
    if (outcome.kind == Kind::differs) {
      context.log.warn("{} already exists with other content and is not changed: {}", manifest.name, outcome.detail);
    } else if (outcome.kind == Kind::failed) {
      context.log.warn("{} is refused: {}", manifest.name, outcome.detail);
    } else if (outcome.kind == Kind::waits) {
      waited.insert(manifest.name);
      context.log.warn("{} waits: {}", manifest.name, outcome.detail);
    }
    if (outcome.kind != Kind::waits && waited.contains(manifest.name))
      context.log.info("{} is there, after a wait", manifest.name);
  };
  const Result<> done =
      kube::ensure_all(context, api, mapper, work.manifests, {.manager = std::string(component), .limit = limit}, on_outcome);
  if (!done.ok()) return done.error();
  context.log.info("all {} manifests exist, {} of them created, after {}", work.manifests.size(), created,
                   human_duration(context.clock.steady() - start));
  return Ok{};
}

Result<> wait_for_pods(const sys::Context& context, const Handover& work) {
  const std::vector<RequiredPod>& required = work.options.required_pods;
  if (required.empty()) return Ok{};
  std::string last;
  return kube::wait_until(context, work.api, "the pods of the control plane", work.options.pods_limit, kube::types::pods, "", {},
                          [&](const kube::Objects& pods) -> Result<std::optional<std::string>> {
                            const std::string missing = not_ready(required, pod_states(required, pods));
                            if (missing != last)
                              context.log.info("{}", missing.empty() ? "all required pods are Ready" : missing);
                            last = missing;
                            return missing.empty() ? std::nullopt : std::optional(missing);
                          });
}

Result<> wait_for_operators(const sys::Context& context, const Handover& work) {
  if (work.needed_masters == 0) return Ok{};
  const std::size_t count = std::size(awaited_operators);
  return sys::for_each_at_once(context, count, static_cast<int>(count), [&](const sys::Context& each, std::size_t i) {
    const Awaited& awaited = awaited_operators[i];
    return kube::wait_until(each, work.api, awaited.type.kind + " cluster", operators_limit, awaited.type, "",
                            {.fields = "metadata.name=cluster"},
                            [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
                              if (found.empty()) return std::optional<std::string>("does not exist");
                              return awaited.missing(found.front(), work.needed_masters);
                            });
  });
}

// An API server serves a new type after five seconds. One that starts meanwhile looks at it again only after five minutes. So if
// there is no other one, the types must be served before this one ends. A type that is never served is no reason to go on serving.
Result<> wait_for_types(const sys::Context& context, const Handover& work) {
  if (work.needed_masters > 0) return Ok{};
  const Result<> served =
      kube::wait_until(context, work.api, "the types of the manifests", types_limit, kube::types::custom_resource_definitions, "",
                       {}, [](const kube::Objects& found) -> Result<std::optional<std::string>> {
                         const auto is_missing = [](const Json& type) {
                           return kube::condition_status(type, "Established") != "True";
                         };
                         const auto missing = std::ranges::find_if(found, is_missing);
                         if (missing == found.end()) return std::optional<std::string>();
                         return std::optional(fmt::format("{} is not served yet", kube::name_of(*missing)));
                       });
  if (!served.ok() && served.error().code() == Code::cancelled) return served;
  if (!served.ok()) context.log.warn("{}", served.error().message());
  return Ok{};
}

// An existing Event is not an error: an earlier start may have created it.
Result<> create_event(const sys::Context& context, kube::Api& api, std::string_view name, std::string_view message) {
  const std::string now = to_rfc3339(WallTime(std::chrono::floor<std::chrono::seconds>(context.clock.now())));
  const Json event = {{"apiVersion", "v1"},
                      {"kind", "Event"},
                      {"metadata", {{"name", name}, {"namespace", "kube-system"}}},
                      {"involvedObject", {{"namespace", "kube-system"}}},
                      {"message", message},
                      {"source", {{"component", component}}},
                      {"type", "Normal"},
                      {"count", 1},
                      {"firstTimestamp", now},
                      {"lastTimestamp", now}};
  return sys::wait_for(context, fmt::format("the event {}", name), 5min, [&]() -> Result<sys::Observation> {
    const Result<Json> made = kube::create(context, api, kube::types::events, event);
    if (!made.ok() && made.error().code() != Code::conflict) return made.error();
    return sys::Observation::done();
  });
}

Result<> wait_for_event(const sys::Context& context, kube::Api& api, const std::string& event) {
  const std::size_t slash = event.find('/');
  return kube::wait_until(context, api, "the event " + event, 24h, kube::types::events, event.substr(0, slash),
                          {.fields = "metadata.name=" + event.substr(slash + 1)},
                          [](const kube::Objects& found) -> Result<std::optional<std::string>> {
                            return found.empty() ? std::optional<std::string>("not created yet") : std::nullopt;
                          });
}

}  // namespace

int needed_masters(const InstallConfig& config) {
  return config.bootstrap_in_place ? 0 : std::min(config.control_plane_replicas, 2);
}

Result<> run_handover(const sys::Context& context, const Handover& work) {
  std::atomic<bool> all_created = false;
  sys::TaskGroup creation(context);
  creation.run("manifests", [&](const sys::Context& background) -> Result<> {
    const Result<> created = create_all(background, work.api, work, work.options.pods_limit + operators_limit);
    all_created = created.ok();
    // Not an error yet: the control plane may become ready without these manifests, and they are tried again later.
    if (!created.ok() && created.error().code() != Code::cancelled) {
      context.log.warn("some manifests are not created yet: {}", created.error().message());
    }
    return Ok{};
  });
  TRY(wait_for_pods(context, work));
  TRY(wait_for_operators(context, work));
  if (work.options.tear_down_delay.count() > 0) sys::pause(context, work.options.tear_down_delay);
  TRY(create_event(context, work.api, "bootstrap-success", "The required pods of the control plane are Ready on the masters"));
  creation.request_stop();
  TRY(creation.wait());

  const bool early = work.options.tear_down_early;
  kube::Api& rest = early ? work.api_afterwards : work.api;
  if (!work.options.tear_down_event.empty()) TRY(wait_for_event(context, work.api, work.options.tear_down_event));
  if (early) {
    TRY(wait_for_types(context, work));
    TRY(work.tear_down(work.api));
  }
  if (!all_created) TRY(create_all(context, rest, work, work.options.create_limit).context("creating manifests"));
  TRY(create_event(context, rest, "bootstrap-finished", "All manifests of the bootstrap machine are created"));
  if (early) return Ok{};
  TRY(wait_for_types(context, work));
  return work.tear_down(work.api);
}

}  // namespace slipway::components::cluster_bootstrap
