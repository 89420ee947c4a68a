// Waits while descriptors, threads or memory are not available, and reports that. The owner runs as long as its cluster, so such
// a shortage must not end it.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sys/context.h"
#include "sys/fd.h"

#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace slipway::provider::local {

// Number of descriptors that connections of a listener leave free for other work. Forwards leave enough for requests and starting
// machines; requests leave enough to carry out accepted requests.
inline constexpr int headroom_of_forward = 64;
inline constexpr int headroom_of_requests = 16;

// Retries one activity during a shortage. Threads: one.
//
// The begin and the end of a shortage are each reported as an event of kind "shortage" and as a log line.
class Shortage {
 public:
  Shortage(const sys::Context& context, std::string what) : context_(context), what_(std::move(what)) {}

  // Calls `attempt` until it does not fail with Code::unavailable, with pauses.
  // errors: cancelled; other errors of `attempt`
  Result<> until_done(const std::function<Result<>()>& attempt);

  // Reports the end of the shortage before `attempt` returns, for long attempts. Does nothing without a shortage.
  void over();

 private:
  void begin(const Error& why);

  const sys::Context context_;
  const std::string what_;
  std::optional<SteadyTime> since_;
};

// The next connection. Its descriptor leaves `headroom` of the process's descriptors free, or a quarter if that is less. Waits
// during a shortage. errors: cancelled; with the kernel's message: the socket cannot be used
Result<sys::Fd> accept_connection(const sys::Context& context, Shortage& shortage, const sys::Fd& listener, int headroom);

// Starts a thread. Returns an error instead of the exception of std::jthread. errors: unavailable
template <class Work>
Result<std::jthread> start_thread(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error& failure) {
    return error(Code::unavailable, "starting a thread: {}", failure.what());
  }
}

}  // namespace slipway::provider::local
