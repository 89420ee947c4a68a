#include "components/controller/leader.h"

#include "base/text.h"
#include "sys/environment_variable.h"
#include "sys/task_group.h"

#include <algorithm>
#include <chrono>

namespace slipway::components {

namespace {

// The server may accept the next attempt soon, and the deadline is close.
constexpr Milliseconds after_failure = std::chrono::seconds(2);

// The format of Kubernetes' MicroTime: always six digits.
std::string micro_time(WallTime time) {
  const WallTime second = std::chrono::floor<Seconds>(time);
  std::string text = to_rfc3339(second);
  text.pop_back();
  return fmt::format("{}.{:06}Z", text, (time - second).count() * 1000);
}

std::string_view holder_of(const Json& lease) { return find_string(lease, {"spec", "holderIdentity"}).value_or(""); }

// The Lease as the watch delivers it, for the thread that decides.
class LeaseWatch {
 public:
  // Runs until a stop.
  Result<> follow(const sys::Context& context, kube::Api& api, const LeaderOptions& options) {
    const kube::Selection selection{.fields = "metadata.name=" + options.name};
    return kube::follow(context, api, kube::types::leases, options.space, selection,
                        [&](const kube::Objects& objects) -> Result<> {
                          update(objects.empty() ? std::nullopt : std::optional(objects.front()), context.clock.steady());
                          return Ok{};
                        });
  }

  void update(std::optional<Json> object, SteadyTime now) {
    state_.with_lock([&](State& state) {
      state.known = true;
      if (!object) {
        state.lease.reset();
      } else if (!state.lease || state.lease->object != *object) {
        state.lease = SeenLease{*std::move(object), now};
      }
    });
    changed.notify();
  }

  // Empty before the first answer of the server.
  std::optional<std::optional<SeenLease>> lease() const {
    return state_.with_lock([](const State& state) { return state.known ? std::optional(state.lease) : std::nullopt; });
  }

  sys::Wakeup changed;

 private:
  struct State {
    bool known = false;
    std::optional<SeenLease> lease;
  };
  Guarded<State> state_;
};

// Writes our identity once. conflict: another process was faster
Result<Json> write_lease(const sys::Context& context, kube::Api& api, const std::optional<SeenLease>& lease,
                         const LeaderOptions& options, Milliseconds limit) {
  return api.send(context, {.method = lease ? "PUT" : "POST",
                            .path = kube::path_of(kube::types::leases, options.space, lease ? options.name : ""),
                            .body = held_lease(lease, options, context.clock.now()),
                            .limit = limit});
}

Result<HeldLease> acquire(const sys::Context& context, kube::Api& api, const LeaderOptions& options, LeaseWatch& watch) {
  while (!context.stop.stop_requested()) {
    const std::uint64_t seen = watch.changed.count();
    const std::optional<std::optional<SeenLease>> lease = watch.lease();
    SteadyTime until = context.clock.steady() + std::min(options.retry, after_failure);
    if (lease && decide(*lease, options, context.clock.steady()) != LeaderStep::wait) {
      const SteadyTime asked = context.clock.steady();
      Result<Json> written =
          write_lease(context, api, *lease, options, std::min(kube::ApiRequest().limit, options.renew_deadline));
      if (written.ok()) return HeldLease{std::move(written).value(), asked};
      if (written.error().code() == Code::denied) return std::move(written).error();
      context.log.info("Lease {}/{}: not acquired: {}; retrying", options.space, options.name, written.error().message());
    } else if (lease && *lease) {
      until = expiry(**lease, options);
    }
    context.clock.wait(until, context.stop, &watch.changed, seen);
  }
  return error(Code::cancelled, "stopped while waiting for Lease {}/{}", options.space, options.name);
}

// Runs after the stop of this process, so it uses a context without that stop. Requests have a limit, because nothing waits for
// them.
void release(const sys::Context& context, kube::Api& api, const LeaderOptions& options, Json held) {
  constexpr Milliseconds limit = Seconds(3);  // of a request
  const sys::Context unstopped = context.with_stop({});
  const std::string path = kube::path_of(kube::types::leases, options.space, options.name);
  const auto give_back = [&] {
    return api.send(unstopped,
                    {.method = "PUT", .path = path, .body = released_lease(held, context.clock.now()), .limit = limit});
  };
  Result<Json> written = give_back();
  if (!written.ok() && written.error().code() == Code::conflict) {
    // A renewal that the stop interrupted may have reached the server all the same. A lease of another holder is not released.
    Result<Json> now = api.send(unstopped, {.method = "GET", .path = path, .limit = limit});
    if (now.ok() && holder_of(now.value()) != options.identity) return;
    if (now.ok()) held = std::move(now).value();
    written = now.ok() ? give_back() : now;
  }
  if (written.ok()) return;
  context.log.warn("Lease {}/{}: not released: {}; the next leader waits {} for it", options.space, options.name,
                   written.error().message(), human_duration(options.duration));
}

}  // namespace

Result<std::string> pod_identity(sys::Files& files, sys::Random& random) {
  if (std::string pod = sys::environment_variable("POD_NAME"); !pod.empty()) return pod;
  const std::optional<std::string> host = TRY(files.read_if_exists("/proc/sys/kernel/hostname"));
  return fmt::format("{}_{}", trim(host.value_or("")), TRY(sys::random_uuid(random)));
}

SteadyTime expiry(const SeenLease& lease, const LeaderOptions& options) {
  const int seconds = integer_of(lease.object, {"spec", "leaseDurationSeconds"});
  return lease.changed + (seconds > 0 ? Seconds(seconds) : options.duration);
}

LeaderStep decide(const std::optional<SeenLease>& lease, const LeaderOptions& options, SteadyTime now) {
  if (!lease) return LeaderStep::create;
  const std::string_view holder = holder_of(lease->object);
  if (holder.empty() || holder == options.identity) return LeaderStep::take;
  return now >= expiry(*lease, options) ? LeaderStep::take : LeaderStep::wait;
}

Json held_lease(const std::optional<SeenLease>& lease, const LeaderOptions& options, WallTime now) {
  Json object = lease ? lease->object
                      : Json{{"apiVersion", "coordination.k8s.io/v1"},
                             {"kind", "Lease"},
                             {"metadata", {{"name", options.name}, {"namespace", options.space}}}};
  JsonObject spec = find_object(object, {"spec"});
  const bool ours_before = lease && holder_of(object) == options.identity;
  if (!ours_before) {
    spec["acquireTime"] = micro_time(now);
    spec["leaseTransitions"] = lease ? integer_of(object, {"spec", "leaseTransitions"}) + 1 : 0;
  }
  spec["holderIdentity"] = options.identity;
  spec["leaseDurationSeconds"] = options.duration.count();
  spec["renewTime"] = micro_time(now);
  object.as_object()["spec"] = std::move(spec);
  return object;
}

Json released_lease(const Json& held, WallTime now) {
  Json object = held;
  JsonObject& spec = object.as_object()["spec"].as_object();
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;  // 0 is not allowed
  spec["renewTime"] = micro_time(now);
  return object;
}

Result<> keep_lease(const sys::Context& context, kube::Api& api, const LeaderOptions& options, Guarded<HeldLease>& held) {
  SteadyTime deadline = held.with_lock([](const HeldLease& lease) { return lease.renewed; }) + options.renew_deadline;
  Milliseconds pause = options.retry;
  std::string reason = "no time left for a request";
  // No request takes longer than the deadline: others may take the lease soon after it.
  const auto left = [&] { return std::min(kube::ApiRequest().limit, deadline - context.clock.steady()); };
  for (;;) {
    context.clock.wait(std::min(context.clock.steady() + pause, deadline), context.stop, nullptr, 0);
    if (context.stop.stop_requested()) return Ok{};
    if (left() <= Milliseconds(0)) {
      return error(Code::unavailable, "Lease {}/{}: not renewed: {}", options.space, options.name, reason);
    }
    SteadyTime asked = context.clock.steady();
    const Json last = held.with_lock([](const HeldLease& lease) { return lease.object; });
    Result<Json> written = write_lease(context, api, SeenLease{last, {}}, options, left());
    if (!written.ok() && written.error().code() == Code::conflict && left() > Milliseconds(0)) {
      // Another writer changed the Lease, perhaps an administrator. Only another holder ends our leadership.
      const std::string path = kube::path_of(kube::types::leases, options.space, options.name);
      const Result<Json> now = api.send(context, {.path = path, .limit = left()});
      if (now.ok() && holder_of(now.value()) != options.identity) {
        return error(Code::unavailable, "Lease {}/{}: now held by {}", options.space, options.name, holder_of(now.value()));
      }
      asked = context.clock.steady();
      if (now.ok() && left() > Milliseconds(0)) written = write_lease(context, api, SeenLease{now.value(), {}}, options, left());
    }
    if (written.ok()) {
      held.with_lock([&](HeldLease& lease) { lease = {std::move(written).value(), asked}; });
      deadline = asked + options.renew_deadline;
      pause = options.retry;
    } else {
      reason = written.error().message();
      pause = std::min(options.retry, after_failure);
    }
  }
}

Result<> lead(const sys::Context& context, kube::Api& api, const LeaderOptions& options,
              const std::function<Result<>(const sys::Context&)>& work) {
  const auto count = [&](bool is_leader) {
    const std::string lease = fmt::format("{}/{}", options.space, options.name);
    if (Metrics* metrics = api.metrics()) metrics->set(Metric::leader, {{"lease", lease}}, is_leader ? 1 : 0);
  };
  count(false);
  std::optional<HeldLease> first;
  {
    LeaseWatch watch;
    sys::TaskGroup tasks(context);
    tasks.run("watch the lease", [&](const sys::Context& task) { return watch.follow(task, api, options); });
    Result<HeldLease> acquired = error(Code::internal, "not asked for");
    tasks.run("get the lease", [&](const sys::Context& task) -> Result<> {
      acquired = acquire(task, api, options, watch);
      if (!acquired.ok()) return acquired.error();
      tasks.request_stop();
      return Ok{};
    });
    const Result<> ended = tasks.wait();
    if (!ended.ok() && !acquired.ok()) return ended;
    first = TRY(std::move(acquired));
  }
  context.log.info("became leader with Lease {}/{} as {}", options.space, options.name, options.identity);
  count(true);
  Guarded<HeldLease> held(*std::move(first));
  Result<> done = [&] {
    sys::TaskGroup tasks(context);
    tasks.run("keep the lease", [&](const sys::Context& task) { return keep_lease(task, api, options, held); });
    tasks.run("work", [&](const sys::Context& task) -> Result<> {
      Result<> worked = work(task);
      tasks.request_stop();
      return worked;
    });
    return tasks.wait();
  }();
  count(false);
  release(context, api, options, held.with_lock([](const HeldLease& lease) { return lease.object; }));
  return done;
}

}  // namespace slipway::components
