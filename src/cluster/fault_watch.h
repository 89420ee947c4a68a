// Watches an installation. Examines the cluster after a failure, after a time without events, or when a machine takes long to
// start.
#pragma once

#include "base/guarded.h"
#include "cluster/cause_watch.h"
#include "cluster/gather.h"
#include "sys/context.h"
#include "sys/events.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace slipway::cluster {

class FaultWatch {
 public:
  struct Pace {
    // time without events before an examination; doubles after each examination without new events
    Milliseconds silence = Seconds(30);
    Milliseconds longest_silence = Seconds(240);
    Milliseconds after_failure = Seconds(2);         // events that follow a failure explain it
    Milliseconds between_examinations = Seconds(5);  // minimum: an examination costs the machines CPU time
    // The cluster is examined this long after a machine starts, whatever other events arrive. It is a little longer than the
    // limit in the rule that judges the start (diagnosis/rules_of_machines.cpp). `still_starting` is the time to the next such
    // examination; it doubles, because the end of a start may not produce an event.
    Milliseconds start = Seconds(42);
    Milliseconds still_starting = Seconds(15);
  };
  // KeepBundle::if_final only when the previous examination had a final finding, so that one archive is kept.
  using Examine = std::function<Result<Examination>(const sys::Context&, KeepBundle)>;

  explicit FaultWatch(sys::Clock& clock);
  FaultWatch(sys::Clock& clock, Pace pace);

  // Receives all events; each event shows that the installation works. Threads: any.
  void observe(const sys::Event& event);

  // Examines the cluster when an examination is due, until a stop. Each finding is emitted once, as an event of kind "finding". A
  // final finding, one that does not heal by itself, ends the call when the next examination confirms it. A failed examination is
  // logged.
  //
  //   errors  diagnosis::to_error of the finding; cancelled
  Result<> run(const sys::Context& context, const Examine& examine_cluster);

  // Says what the deepest broken link is, at any time of the installation. The findings above need a fault with a name of its
  // own.
  CauseWatch& causes() { return causes_; }

 private:
  // When to examine a machine that starts, and the pause until the next examination.
  struct Start {
    SteadyTime due;
    Milliseconds pause;
  };
  struct Activity {
    SteadyTime last{};
    std::optional<SteadyTime> failed{};                    // not examined yet
    std::map<std::string, Start, std::less<>> starting{};  // machines
  };

  Result<> wait_until_due(const sys::Context& context, SteadyTime earliest, Milliseconds silence);

  sys::Clock& clock_;
  const Pace pace_;
  Guarded<Activity> activity_;
  sys::Wakeup changed_;
  CauseWatch causes_;
};

// Runs `work` under the watch and its causes. A final finding stops the work and becomes its error. After a timeout of the work,
// a last examination explains the error.
//
//   folder  where the log bundle of a failure is written
//   errors  those of the work, explained (gather.h); cancelled
Result<> while_watched(const Environment& environment, const Subject& subject, const std::string& folder, FaultWatch& faults,
                       const std::function<Result<>(const sys::Context&)>& work);

}  // namespace slipway::cluster
