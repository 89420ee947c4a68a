// The owner lives as long as its cluster, so a lack of descriptors, threads or memory must not end anything: what needs one waits
// until there is one again, and says so.
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

// How many of its descriptors a process keeps free for other work than one listener's connections. A forward leaves the owner
// enough for requests and for machines that start; requests leave it enough to carry out those that it has.
inline constexpr int headroom_of_forward = 64;
inline constexpr int headroom_of_requests = 16;

// One activity that waits while something is short. Threads: one.
//
// A shortage is an event of kind "shortage" and a line of the log when it begins, and again when it is over.
class Shortage {
 public:
  Shortage(const sys::Context& context, std::string what) : context_(context), what_(std::move(what)) {}

  // Attempts until it is not refused for a shortage (Code::unavailable), pausing in between.
  // errors: cancelled; other errors of `attempt`
  Result<> until_done(const std::function<Result<>()>& attempt);

  // For an attempt that goes on for long once it has what it needs. Fine when nothing was short.
  void over();

 private:
  void begin(const Error& why);

  const sys::Context context_;
  const std::string what_;
  std::optional<SteadyTime> since_;
};

// The next connection, on a descriptor that leaves `headroom` of those that the process may have, or a quarter where it may have
// few. Waits for it through a shortage. errors: cancelled; what the kernel says of a socket that cannot be used
Result<sys::Fd> accept_connection(const sys::Context& context, Shortage& shortage, const sys::Fd& listener, int headroom);

// A thread, or why there is none: the constructor of std::jthread throws. errors: unavailable
template <class Work>
Result<std::jthread> start_thread(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error& failure) {
    return error(Code::unavailable, "starting a thread: {}", failure.what());
  }
}

}  // namespace slipway::provider::local
