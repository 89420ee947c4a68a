#include "operators/bootstrap/hand_over.h"

#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <atomic>
#include <chrono>

namespace slipway::operators {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds pods_limit = 20min;
constexpr Milliseconds revisions_limit = 30min;
constexpr std::string_view component = "cluster-bootstrap";

const kube::ResourceType static_pod_operators[] = {
    {"operator.openshift.io", "v1", "kubeapiservers", "KubeAPIServer", false},
    {"operator.openshift.io", "v1", "kubecontrollermanagers", "KubeControllerManager", false},
    {"operator.openshift.io", "v1", "kubeschedulers", "KubeScheduler", false},
};

Result<> create_all(const sys::Context& context, kube::Api& api, const HandOver& work, Milliseconds limit) {
  kube::Mapper mapper(api);
  const SteadyTime start = context.clock.steady();
  std::size_t created = 0;
  const auto told = [&](const kube::Manifest& manifest, const kube::Outcome& outcome) {
    using Kind = kube::Outcome::Kind;
    if (outcome.kind == Kind::created) ++created;
    if (outcome.kind == Kind::differs) {
      context.log.warn("{} is there with other content and stays as it is: {}", manifest.name, outcome.detail);
    } else if (outcome.kind == Kind::failed) {
      context.log.warn("{} is refused: {}", manifest.name, outcome.detail);
    }
  };
  const Result<> done =
      kube::ensure_all(context, api, mapper, work.manifests, {.manager = std::string(component), .limit = limit}, told);
  if (!done.ok()) return done.error();
  context.log.info("all {} manifests are there, {} of them new, after {}", work.manifests.size(), created,
                   human_duration(context.clock.steady() - start));
  return Ok{};
}

Result<> wait_for_pods(const sys::Context& context, const HandOver& work) {
  const std::vector<RequiredPod>& required = work.options.required_pods;
  if (required.empty()) return Ok{};
  std::string last;
  return kube::wait_until(context, work.api, "the pods of the control plane", pods_limit, kube::types::pods, "", {},
                          [&](const kube::Objects& pods) -> Result<std::optional<std::string>> {
                            const std::string missing = not_ready(required, judge(required, pods));
                            if (missing != last)
                              context.log.info("{}", missing.empty() ? "all required pods are ready" : missing);
                            last = missing;
                            return missing.empty() ? std::nullopt : std::optional(missing);
                          });
}

// At least two masters have a revision: while one of them goes away, the other serves. etcd is waited for by others, after us.
std::optional<std::string> too_few_nodes(const kube::Objects& objects) {
  if (objects.empty()) return "there is none";
  int nodes = 0;
  for (const Json& node : find_array(objects.front(), {"status", "nodeStatuses"})) {
    const Json* revision = find(node, {"currentRevision"});
    if (revision && revision->is_int64() && revision->get_int64() >= 1) ++nodes;
  }
  if (nodes >= 2) return {};
  return fmt::format("{} of 2 masters have a revision", nodes);
}

Result<> wait_for_revisions(const sys::Context& context, const HandOver& work) {
  if (!work.is_highly_available) return Ok{};
  return sys::for_each_at_once(
      context, std::size(static_pod_operators), std::size(static_pod_operators), [&](const sys::Context& each, std::size_t i) {
        const kube::ResourceType& type = static_pod_operators[i];
        return kube::wait_until(
            each, work.api, type.kind + " cluster", revisions_limit, type, "", {.fields = "metadata.name=cluster"},
            [](const kube::Objects& objects) -> Result<std::optional<std::string>> { return too_few_nodes(objects); });
      });
}

// Fine when it is there: an earlier start may have got so far.
Result<> mark(const sys::Context& context, kube::Api& api, std::string_view name, std::string_view message) {
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
  return sys::wait_for(context, fmt::format("the event {}", name), 5min, [&]() -> Result<sys::Look> {
    const Result<Json> made = kube::create(context, api, kube::types::events, event);
    if (!made.ok() && made.error().code() != Code::conflict) return made.error();
    return sys::Look::done();
  });
}

Result<> wait_for_event(const sys::Context& context, kube::Api& api, const std::string& event) {
  const std::size_t slash = event.find('/');
  return kube::wait_until(context, api, "the event " + event, 24h, kube::types::events, event.substr(0, slash),
                          {.fields = "metadata.name=" + event.substr(slash + 1)},
                          [](const kube::Objects& found) -> Result<std::optional<std::string>> {
                            return found.empty() ? std::optional<std::string>("nobody has made it") : std::nullopt;
                          });
}

}  // namespace

Result<> hand_over(const sys::Context& context, const HandOver& work) {
  std::atomic<bool> all_created = false;
  sys::TaskGroup creation(context);
  creation.run("manifests", [&](const sys::Context& background) -> Result<> {
    const Result<> created = create_all(background, work.api, work, pods_limit + revisions_limit);
    all_created = created.ok();
    // Not the end: the control plane may become ready without them, and they get another chance.
    if (!created.ok() && created.error().code() != Code::cancelled) {
      context.log.warn("some manifests are not there yet: {}", created.error().message());
    }
    return Ok{};
  });
  TRY(wait_for_pods(context, work));
  TRY(wait_for_revisions(context, work));
  if (work.options.tear_down_delay.count() > 0) sys::pause(context, work.options.tear_down_delay);
  TRY(mark(context, work.api, "bootstrap-success", "The pods that the control plane needs are ready on the masters"));
  creation.request_stop();
  TRY(creation.wait());

  const bool early = work.options.tear_down_early;
  kube::Api& rest = early ? work.api_afterwards : work.api;
  if (!work.options.tear_down_event.empty()) TRY(wait_for_event(context, work.api, work.options.tear_down_event));
  if (early) TRY(work.tear_down());
  if (!all_created) TRY(create_all(context, rest, work, work.options.create_limit).context("creating manifests"));
  TRY(mark(context, rest, "bootstrap-finished", "Everything that the bootstrap machine creates is there"));
  if (!early) TRY(work.tear_down());
  return Ok{};
}

}  // namespace slipway::operators
