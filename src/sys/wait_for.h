// wait_for: how slipway waits for an external condition. pause: a fixed pause, for loops that check something at an interval.
//
//   TRY(wait_for(context, "three etcd voters", Seconds(60), [&]() -> Result<Observation> {
//     int voters = TRY(count_voters(etcd));
//     return voters == 3 ? Observation::done() : Observation::not_yet("{} of 3 vote", voters);
//   }, &member_list_changed));
// Not named wait.h: src is on the include path, and the file would hide the C library's header of that name.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sys/context.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace slipway::sys {

// The result of one check of the awaited condition.
class Observation {
 public:
  static Observation done() { return Observation(std::nullopt); }
  template <class... Args>
  static Observation not_yet(fmt::format_string<Args...> text, Args&&... args) {
    return Observation(fmt::format(text, std::forward<Args>(args)...));
  }

  bool is_done() const { return !reason_; }
  const std::string& reason() const { return *reason_; }  // only when !is_done()

 private:
  explicit Observation(std::optional<std::string> reason) : reason_(std::move(reason)) {}

  std::optional<std::string> reason_;
};

// The pause between checks without a wakeup: doubles from `first` to `longest`.
struct Pace {
  Milliseconds first{50};
  Milliseconds longest{5000};
};

// Calls `observe` until it is done.
//
//   what     completes "waiting for ..."
//   limit    from now; the last call is made when the limit is reached
//   observe  an error of unavailable, timeout or conflict means "not yet, for this reason"; any other error ends the wait
//   wakeup   observe is called again as soon as it is notified; the pace is then only a safety net
//   errors   timeout: "waiting for three etcd voters: timed out after 60 s: 2 of 3 vote"; cancelled; those of observe
Result<> wait_for(const Context& context, std::string_view what, Milliseconds limit,
                  const std::function<Result<Observation>()>& observe, Wakeup* wakeup = nullptr, Pace pace = {});

// Calls `attempt` until it succeeds, at most `attempts` times, with a doubling pause. Only errors of unavailable and timeout are
// retried. errors: the last one, cancelled
template <class T>
Result<T> retry(const Context& context, int attempts, Pace pace, const std::function<Result<T>()>& attempt);

// Blocks for the duration; false if a stop was requested. For programs that check at an interval
// what no event announces; code that waits for something uses wait_for.
bool pause(const Context& context, Milliseconds duration);

template <class T>
Result<T> retry(const Context& context, int attempts, Pace pace, const std::function<Result<T>()>& attempt) {
  Milliseconds next = pace.first;
  for (int made = 1;; ++made) {
    Result<T> result = attempt();
    if (result.ok() || made == attempts) return result;
    const Code code = result.error().code();
    if (code != Code::unavailable && code != Code::timeout) return result;
    if (!pause(context, next)) return error(Code::cancelled, "stopped before the next attempt: {}", result.error().message());
    next = std::min(next * 2, pace.longest);
  }
}

}  // namespace slipway::sys
