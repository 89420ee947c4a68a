// Signals: TERM, INT and HUP become a stop request.
#pragma once

#include <stop_token>
#include <thread>

namespace slipway::sys {

// Construct it first in main, before any other thread: it blocks the signals for all threads, and its own thread waits for
// them. A second signal ends the program at once, for users who do not want to wait. Also ignores PIPE.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();

  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::jthread watcher_;
};

}  // namespace slipway::sys
