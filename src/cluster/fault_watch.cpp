#include "cluster/fault_watch.h"

#include "cluster/look.h"
#include "sys/task_group.h"

#include <algorithm>

namespace slipway::cluster {

FaultWatch::FaultWatch(sys::Clock& clock) : FaultWatch(clock, Pace()) {}

FaultWatch::FaultWatch(sys::Clock& clock, Pace pace)
    : clock_(clock), pace_(pace), activity_(Activity{.last = clock.steady()}), causes_(clock) {}

void FaultWatch::observe(const sys::Event& event) {
  // What the watch itself says is no sign of life.
  if (event.kind == "finding" || event.kind == "cause") return;
  const SteadyTime now = clock_.steady();
  activity_.with_lock([&](Activity& activity) {
    activity.last = now;
    if (event.phase == sys::Phase::failed && !activity.failed) activity.failed = now;
    if (event.kind != "boot") return;
    activity.starting.erase(event.name);
    if (event.phase == sys::Phase::started) activity.starting[event.name] = {now + pace_.start, pace_.still_starting};
  });
  changed_.notify();
}

Result<> FaultWatch::wait_until_due(const sys::Context& context, SteadyTime earliest, Milliseconds silence) {
  for (;;) {
    const std::uint64_t examined = changed_.count();
    const Activity activity = activity_.with_lock([](const Activity& now) { return now; });
    SteadyTime due = activity.failed ? *activity.failed + pace_.after_failure : activity.last + silence;
    for (const auto& [machine, start] : activity.starting) due = std::min(due, start.due);
    due = std::max(due, earliest);
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
    if (clock_.steady() >= due) return Ok{};
    clock_.wait(due, context.stop, &changed_, examined);
  }
}

Result<> FaultWatch::run(const sys::Context& context, const Examine& examine_cluster) {
  std::set<std::string> emitted, final_before;
  Milliseconds silence = pace_.silence;
  SteadyTime earliest = clock_.steady();
  for (;;) {
    TRY(wait_until_due(context, earliest, silence));
    const SteadyTime now = clock_.steady();
    const SteadyTime last_event = activity_.with_lock([&](Activity& activity) {
      activity.failed.reset();
      for (auto& [machine, start] : activity.starting) {
        if (start.due <= now) start = {now + start.pause, start.pause * 2};
      }
      return activity.last;
    });
    const Result<Examination> examined =
        examine_cluster(context, final_before.empty() ? KeepBundle::never : KeepBundle::if_final);
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
    std::set<std::string> final_now;
    if (!examined.ok()) {
      context.log.debug("diagnosing the cluster: {}", examined.error().message());
    } else {
      context.log.debug("the cluster was examined: {} findings", examined->findings.size());
      for (const diagnosis::Finding& finding : examined->findings) {
        if (emitted.insert(finding.name + " " + finding.stage).second) context.events.emit(diagnosis::to_event(finding));
        if (!finding.is_final) continue;
        final_now.insert(finding.name);
        if (final_before.contains(finding.name)) return diagnosis::to_error(finding, examined->bundle);
      }
    }
    const bool is_quiet = activity_.with_lock([&](const Activity& activity) { return activity.last == last_event; });
    silence = is_quiet ? std::min(silence * 2, pace_.longest_silence) : pace_.silence;
    if (!final_now.empty()) silence = Milliseconds(0);  // examine again as soon as possible
    earliest = clock_.steady() + pace_.between_examinations;
    final_before = std::move(final_now);
  }
}

Result<> while_watched(const Environment& environment, const Subject& subject, const std::string& folder, FaultWatch& faults,
                       const std::function<Result<>(const sys::Context&)>& work) {
  const sys::Context& context = environment.context;
  const auto examine_cluster = [&](const sys::Context& own, KeepBundle keep) {
    return examine(environment.with(own), subject, folder, keep);
  };
  std::stop_source ending;
  const std::stop_callback forward(context.stop, [&] { ending.request_stop(); });
  sys::TaskGroup watching(context);
  watching.run("", [&](const sys::Context& own) -> Result<> {
    const Result<> watched = faults.run(own, examine_cluster);
    ending.request_stop();
    return watched;
  });
  watching.run("", [&](const sys::Context& own) {
    return faults.causes().run(own, [&](const sys::Context& each) -> Result<std::vector<diagnosis::Chain>> {
      return TRY(look(environment.with(each), subject, diagnosis::whole_cluster, diagnosis::Situation::installing)).chains;
    });
  });
  const Result<> worked = work(context.with_stop(ending.get_token()));
  watching.request_stop();
  const Result<> watched = watching.wait();
  if (worked.ok() || context.stop.stop_requested()) return worked;
  if (!watched.ok() && watched.error().code() != Code::cancelled) return watched;
  if (worked.error().code() != Code::timeout) return worked;
  const Result<Examination> examined = examine_cluster(context, KeepBundle::always);
  return explain(worked.error(), examined.ok() ? examined.value() : Examination());
}

}  // namespace slipway::cluster
