#include "sys/signals.h"

#include <unistd.h>
#include <csignal>

namespace slipway::sys {

namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  watcher_ = std::jthread([this, set](std::stop_token ending) {
    for (;;) {
      int signal = 0;
      if (::sigwait(&set, &signal) != 0 || ending.stop_requested()) return;
      if (signal == SIGUSR2) continue;
      if (stop_.stop_requested()) ::_exit(128 + signal);
      stop_.request_stop();
    }
  });
}

StopOnSignal::~StopOnSignal() {
  watcher_.request_stop();
  ::pthread_kill(watcher_.native_handle(), SIGUSR2);  // only wakes sigwait
}

}  // namespace slipway::sys
