// Watches over an installation: when something failed, nothing has been told for a while, or a machine takes long to start, it is
// looked what is wrong.
#pragma once

#include "base/guarded.h"
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
    Milliseconds silence = Seconds(30);  // after which a look is due; doubles with each look that finds nothing new
    Milliseconds longest_silence = Seconds(240);
    Milliseconds after_failure = Seconds(2);  // what follows a failure tells more than itself
    Milliseconds between_looks = Seconds(5);  // at least, for a look takes the machines' time
    // Of a machine, after which a look is due whatever others tell: a little more than the patience of the rule that judges it
    // (diagnosis/rules_of_machines.cpp). And to the next such look; doubles, for nobody may hear of its end.
    Milliseconds start = Seconds(42);
    Milliseconds still_starting = Seconds(15);
  };
  // With Keep::if_final only when the look before found something final: it is kept once.
  using Look = std::function<Result<Examination>(const sys::Context&, KeepBundle)>;

  explicit FaultWatch(sys::Clock& clock);
  FaultWatch(sys::Clock& clock, Pace pace);

  // For the event stream: whatever is told is a sign of life. Threads: any.
  void hear(const sys::Event& event);

  // Looks when a look is due, until a stop. What is found is told as an event of kind "finding", once; what will not heal by
  // itself ends it, when a second look says the same. A look that fails is logged.
  //
  //   errors  what diagnosis::to_error makes of the finding; cancelled
  Result<> run(const sys::Context& context, const Look& look);

 private:
  // When to look at a machine that starts, and how long from then to the next time.
  struct Start {
    SteadyTime due;
    Milliseconds pause;
  };
  struct Activity {
    SteadyTime last{};
    std::optional<SteadyTime> failed{};                    // not looked at yet
    std::map<std::string, Start, std::less<>> starting{};  // machines
  };

  Result<> wait_until_due(const sys::Context& context, SteadyTime earliest, Milliseconds silence);

  sys::Clock& clock_;
  const Pace pace_;
  Guarded<Activity> activity_;
  sys::Wakeup changed_;
};

// Does the work while the watch looks after the cluster, and explains its failure: with a finding that will not heal by itself,
// which ends the work; with what a last look finds when it waited in vain.
//
//   folder  where a log bundle is left of a failure
//   errors  those of the work, explained (gather.h); cancelled
Result<> while_watched(const Environment& environment, const Subject& subject, const std::string& folder, FaultWatch& faults,
                       const std::function<Result<>(const sys::Context&)>& work);

}  // namespace slipway::cluster
