// Signals: TERM and INT (and HUP) become a stop.
#pragma once

#include <stop_token>
#include <thread>

namespace slipway::sys {

// Made first thing in main, before any other thread: it blocks the signals for all threads and a thread of its own waits for
// them. A second signal ends the program at once, for people who do not want to wait. Also ignores PIPE.
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
