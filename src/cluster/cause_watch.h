// Looks at a cluster while something of it is awaited, and says what the deepest broken link is.
#pragma once

#include "base/guarded.h"
#include "diagnosis/why.h"
#include "sys/context.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::cluster {

class CauseWatch {
 public:
  struct Pace {
    Milliseconds first = Seconds(15);    // before the first look: most waits are over by then
    Milliseconds between = Seconds(7);   // from the end of a look to the next one
    int share = 2;                       // a look that takes long is followed by a pause of this many times its duration
  };
  // errors: could not look; the watch looks again
  using Look = std::function<Result<std::vector<diagnosis::Chain>>(const sys::Context&)>;

  explicit CauseWatch(sys::Clock& clock);
  CauseWatch(sys::Clock& clock, Pace pace);

  // Looks again and again until a stop. A cause is emitted once, as an event of kind "cause": failed when it is found, finished
  // when it is over. A link of unknown age counts from the first look that saw it. One look alone proves only what the platform
  // says of a machine, with its time: objects of the API are out of date for a moment when the API has been away. errors:
  // cancelled
  Result<> run(const sys::Context& context, const Look& look_at_cluster);

  // The sentence of the cause, for the error of a wait; empty if there is none. Threads: any.
  std::string sentence() const;

 private:
  // The chain whose end has lasted long enough; the one that was emitted before, if it is as deep as the first.
  const diagnosis::Chain* choose(const std::vector<diagnosis::Chain>& chains);
  void tell(const sys::Context& context, const diagnosis::Chain* cause);

  sys::Clock& clock_;
  const Pace pace_;
  std::map<std::string, SteadyTime> first_seen_;  // ends of chains, by name and object
  Guarded<std::optional<diagnosis::Link>> cause_;
};

}  // namespace slipway::cluster
