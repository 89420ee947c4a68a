#include "components/controller/reconcile.h"

#include "base/guarded.h"
#include "kube/contains.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace slipway::components {

namespace {

using namespace std::chrono_literals;

constexpr int max_parallel = 8;
constexpr Milliseconds shortest_pause = 100ms;
constexpr Milliseconds longest_pause = 15s;
constexpr Milliseconds long_time = 1h;
// For objects that no watch covers.
constexpr Milliseconds read_interval = 5min;
// Conflicts in a row that are retried without a pause. More of them mean that another writer competes for the same object.
constexpr int quick_conflicts = 3;

// Threads: run() starts two, and several for the objects of a plan.
class Reconciler {
 public:
  Reconciler(kube::Api& api, const Reconciliation& work) : api_(api), work_(work) {}

  Result<> run(const sys::Context& context) {
    sys::TaskGroup tasks(context);
    tasks.run("", [this](const sys::Context& own) { return work_.view.follow(own, api_, work_.watched); });
    tasks.run("", [this](const sys::Context& own) { return run_plans(own); });
    return tasks.wait();
  }

 private:
  // The outcome of one plan.
  struct Round {
    std::optional<std::string> conflict{};  // message of the last conflict
    std::set<std::string> contested{};      // objects that were not written because of a conflict
    bool has_failed = false;
  };

  Result<> run_plans(const sys::Context& context) {
    Milliseconds after_failure = shortest_pause;
    int conflicts = 0;
    while (!context.stop.stop_requested()) {
      const std::uint64_t seen = work_.view.changed().count();
      if (!work_.view.is_complete()) {
        context.clock.wait(context.clock.steady() + long_time, context.stop, &work_.view.changed(), seen);
        continue;
      }
      forget_old_reads(context.clock.steady());
      const Snapshot snapshot = work_.view.snapshot();
      const SteadyTime begin = context.clock.steady();
      const Plan plan = TRY(work_.plan(snapshot, context.clock.now()));
      const SteadyTime planned = context.clock.steady();
      Round round = carry_out(context, plan, snapshot);
      if (context.stop.stop_requested()) break;
      count(round, planned - begin, context.clock.steady() - begin);
      conflicts = round.conflict ? conflicts + 1 : 0;
      if (conflicts > quick_conflicts) {
        round.has_failed = true;
        warn_once(context, *round.conflict + "; retrying");
      }
      const SteadyTime now = context.clock.steady();
      Milliseconds until_next = until_next_read(now);
      if (plan.replan_at) until_next = std::min(until_next, std::max(*plan.replan_at - context.clock.now(), shortest_pause));
      if (round.conflict) until_next = std::min(until_next, shortest_pause);
      if (round.has_failed) {
        until_next = std::min(until_next, after_failure);
        after_failure = std::min(after_failure * 2, longest_pause);
        sys::pause(context, shortest_pause);
      } else if (after_failure != shortest_pause) {
        after_failure = shortest_pause;
        warned_.with_lock([](auto& warned) { warned.clear(); });
      }
      context.clock.wait(now + until_next, context.stop, &work_.view.changed(), seen);
    }
    return error(Code::cancelled, "stopped");
  }

  void count(const Round& round, Milliseconds planning, Milliseconds all) {
    Metrics* metrics = api_.metrics();
    if (!metrics) return;
    const std::string& name = work_.controller.empty() ? work_.manager : work_.controller;
    const std::string_view result = round.has_failed ? "failed" : round.conflict ? "conflict" : "done";
    metrics->add(Metric::reconciles, {{"controller", name}, {"result", result}});
    metrics->add(Metric::plan_seconds, {{"controller", name}}, std::chrono::duration<double>(planning).count());
    metrics->add(Metric::reconcile_seconds, {{"controller", name}}, std::chrono::duration<double>(all).count());
  }

  Round carry_out(const sys::Context& context, const Plan& plan, const Snapshot& snapshot) {
    Round round = fulfil_all(context, plan.desired_objects, snapshot);
    if (context.stop.stop_requested()) return round;
    // Before the return after a conflict: a plan does not repeat the notice about a status that has been written.
    log_all(context, plan.notices, round.contested);
    if (round.conflict) return round;
    if (!round.has_failed) run_all(context, plan.tasks, round);
    // Last, so that nothing waits for Events.
    if (!context.stop.stop_requested() && !send_events(context)) round.has_failed = true;
    return round;
  }

  void run_all(const sys::Context& context, const std::vector<Task>& tasks, Round& round) {
    for (const Task& task : tasks) {
      const Result<> done = task.run(context);
      if (context.stop.stop_requested()) return;
      if (done.ok()) continue;
      const std::string text = fmt::format("{} failed: {}", task.name, done.error().message());
      if (done.error().code() == Code::conflict) {
        note_conflict(context, text, round);
      } else {
        round.has_failed = true;
        warn_once(context, text + "; retrying");
      }
      return;
    }
  }

  // ---- objects

  Round fulfil_all(const sys::Context& context, const std::vector<DesiredObject>& desired_objects, const Snapshot& snapshot) {
    std::vector<std::pair<const DesiredObject*, const Json*>> open;
    for (const DesiredObject& desired : desired_objects) {
      const Json* known = snapshot.find(desired.type, space_of(desired), kube::name_of(desired.object));
      if (needs_read(desired) || !is_fulfilled(desired, known)) open.emplace_back(&desired, known);
    }
    Guarded<std::vector<std::pair<std::string, Error>>> failures;  // object and error
    const Result<> done =
        sys::for_each_at_once(context, open.size(), max_parallel, [&](const sys::Context& own, std::size_t i) -> Result<> {
          Result<> fulfilled = fulfil(own, *open[i].first, open[i].second);
          // A failure does not stop the others.
          if (!fulfilled.ok()) {
            failures.with_lock(
                [&](auto& all) { all.emplace_back(kube::describe(open[i].first->object), std::move(fulfilled).error()); });
          }
          return Ok{};
        });
    Round round;
    if (!done.ok() || context.stop.stop_requested()) return round;
    for (const auto& [object, failure] : failures.with_lock([](const auto& all) { return all; })) {
      if (failure.code() == Code::conflict) {
        round.contested.insert(object);
        note_conflict(context, failure.message(), round);
      } else {
        round.has_failed = true;
        warn_once(context, fmt::format("{}; retrying", failure.message()));
      }
    }
    return round;
  }

  Result<> fulfil(const sys::Context& context, const DesiredObject& desired, const Json* known) {
    std::optional<Json> found;
    if (needs_read(desired)) {
      found = TRY(read(context, desired));
      known = found ? &*found : nullptr;
      if (is_fulfilled(desired, known)) return Ok{};
    }
    Result<Json> written = write(context, desired, known);
    if (!written.ok() && written.error().code() == Code::conflict) TRY(read(context, desired));
    if (!written.ok()) return std::move(written).error();
    const bool is_gone = written.value().is_null();
    context.log.debug("{} is {}", kube::describe(desired.object),
                      is_gone || desired.how == DesiredObject::How::remove ? "removed" : "written");
    update_view(context, desired, written.value());
    if (is_gone) return Ok{};
    if (desired.how != DesiredObject::How::remove && !is_fulfilled(desired, &written.value())) {
      const std::string field = kube::first_difference(desired.object, written.value())
                                    .value_or(desired.how == DesiredObject::How::status ? "status" : "data");
      warn_once(context, fmt::format("{}: written, but the server stores a different {}", kube::describe(desired.object), field));
    }
    return Ok{};
  }

  // Reads the object from the server, because no watch covers it or has delivered it yet.
  Result<std::optional<Json>> read(const sys::Context& context, const DesiredObject& desired) {
    std::optional<Json> found = TRY(kube::find(context, api_, desired.type, space_of(desired), kube::name_of(desired.object)));
    if (found) {
      work_.view.put(*found);
    } else {
      work_.view.remove(desired.type, space_of(desired), kube::name_of(desired.object));
    }
    note_read(context, desired);
    return found;
  }

  // returns: the object as it is now; after a deletion the server's answer; null: it does not exist
  Result<Json> write(const sys::Context& context, const DesiredObject& desired, const Json* known) {
    switch (desired.how) {
      case DesiredObject::How::create: return kube::create(context, api_, desired.type, new_object(desired.object));
      case DesiredObject::How::status: {
        Result<Json> updated = kube::update(context, api_, desired.type, desired.object, "status");
        if (updated.ok() || updated.error().code() != Code::not_found) return updated;
        if (!TRY(read(context, desired))) return Json(nullptr);
        // A few types have no status subresource: Network.config.openshift.io. Of the others, many accounts may write only the
        // status.
        return kube::update(context, api_, desired.type, desired.object);
      }
      case DesiredObject::How::remove: {
        // As for most types; without it the API server would leave the pods of a Job, and they would run on.
        const std::string path =
            kube::path_of(desired.type, space_of(desired), kube::name_of(desired.object)) + "?propagationPolicy=Background";
        Result<Json> removed = api_.send(context, {.method = "DELETE", .path = path});
        if (!removed.ok() && removed.error().code() == Code::not_found) return Json(nullptr);
        return removed;
      }
      case DesiredObject::How::apply: break;
    }
    if (!holds_data(desired.type)) {
      Json wanted = new_object(desired.object);
      wanted.as_object().erase("status");
      return kube::apply(context, api_, desired.type, wanted, work_.manager);
    }
    if (known) return kube::update(context, api_, desired.type, updated_object(*known, desired.object));
    return kube::create(context, api_, desired.type, new_object(desired.object));
  }

  // Updates the view before the watch delivers the change. A deleted object with finalizers stays for a while.
  void update_view(const sys::Context& context, const DesiredObject& desired, const Json& written) {
    const bool is_removed = desired.how == DesiredObject::How::remove && !find(written, {"metadata", "deletionTimestamp"});
    if (!written.is_null() && !is_removed) {
      work_.view.put(written);
    } else {
      work_.view.remove(desired.type, space_of(desired), kube::name_of(desired.object));
    }
    note_read(context, desired);
  }

  // ---- objects that no watch covers

  bool is_covered(const DesiredObject& desired) const {
    return std::ranges::any_of(work_.watched, [&](const Watched& watched) { return covers(watched, desired); });
  }

  bool needs_read(const DesiredObject& desired) const {
    return !is_covered(desired) && !read_times_.with_lock([&](const auto& times) { return times.contains(key_of(desired)); });
  }

  void note_read(const sys::Context& context, const DesiredObject& desired) {
    if (is_covered(desired)) return;
    const SteadyTime now = context.clock.steady();
    read_times_.with_lock([&](auto& times) { times[key_of(desired)] = now; });
  }

  void forget_old_reads(SteadyTime now) {
    read_times_.with_lock(
        [&](auto& times) { std::erase_if(times, [&](const auto& each) { return each.second + read_interval <= now; }); });
  }

  Milliseconds until_next_read(SteadyTime now) const {
    return read_times_.with_lock([&](const auto& times) {
      Milliseconds until = long_time;
      for (const auto& [key, time] : times) until = std::min(until, time + read_interval - now);
      return std::max(until, shortest_pause);
    });
  }

  // ---- Events and log lines

  void log_all(const sys::Context& context, const std::vector<Notice>& notices, const std::set<std::string>& contested) {
    for (const Notice& notice : notices) {
      const std::string about = kube::describe(notice.regarding);
      if (contested.contains(about)) continue;
      if (!logged_.insert(fmt::format("{}\n{}\n{}", about, notice.reason, notice.message)).second) continue;
      if (notice.is_warning) {
        context.log.warn("{}: {}", notice.reason, notice.message);
      } else {
        context.log.info("{}: {}", notice.reason, notice.message);
      }
      unsent_.push_back(notice);
    }
  }

  // Sends Events in their order. returns: false if some could not be sent; the next round sends them
  bool send_events(const sys::Context& context) {
    while (!unsent_.empty()) {
      const Notice& notice = unsent_.front();
      const Result<> sent = kube::emit_event(context, api_, notice.regarding, work_.manager,
                                             notice.is_warning ? "Warning" : "Normal", notice.reason, notice.message);
      if (!sent.ok()) {
        const Code code = sent.error().code();
        const bool is_lost = code == Code::invalid || code == Code::denied;
        warn_once(context, fmt::format("cannot create Event {}: {}; {}", notice.reason, sent.error().message(),
                                       is_lost ? "it is only in this log" : "retrying"));
        if (!is_lost) return false;
      }
      unsent_.erase(unsent_.begin());
    }
    return true;
  }

  // A conflict is usual when several programs write an object. It is a warning only if it repeats.
  void note_conflict(const sys::Context& context, const std::string& text, Round& round) {
    context.log.debug("{}; planning again", text);
    round.conflict = text;
  }

  // Logs each text once, until a plan succeeds again.
  void warn_once(const sys::Context& context, const std::string& text) {
    if (warned_.with_lock([&](auto& warned) { return warned.insert(text).second; })) context.log.warn("{}", text);
  }

  kube::Api& api_;
  const Reconciliation& work_;
  Guarded<std::map<std::string, SteadyTime>> read_times_;  // when objects that no watch covers were read, by key_of
  Guarded<std::set<std::string>> warned_;
  std::set<std::string> logged_;  // notices that were logged
  std::vector<Notice> unsent_;
};

}  // namespace

void Plan::add(Plan other) {
  std::ranges::move(other.desired_objects, std::back_inserter(desired_objects));
  std::ranges::move(other.tasks, std::back_inserter(tasks));
  std::ranges::move(other.notices, std::back_inserter(notices));
  if (other.replan_at) replan_by(*other.replan_at);
}

void Plan::replan_by(WallTime when) { replan_at = replan_at ? std::min(*replan_at, when) : when; }

Result<> reconcile(const sys::Context& context, kube::Api& api, const Reconciliation& work) {
  return Reconciler(api, work).run(context);
}

}  // namespace slipway::components
