// wait_for: the one way in which slipway waits for something outside of it.
//
//   TRY(wait_for(context, "three etcd voters", Seconds(60), [&]() -> Result<Observation> {
//     int voters = TRY(count_voters(etcd));
//     return voters == 3 ? Look::done() : Look::not_yet("{} of 3 vote", voters);
//   }, &member_list_changed));
// Not named wait.h: with src on the include path that would hide the C library's header of this name.
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

// What one look at the world said.
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

// How long to pause between looks when nothing wakes us: doubling from first to longest.
struct Pace {
  Milliseconds first{50};
  Milliseconds longest{5000};
};

// Looks until it is done.
//
//   what    completes "waiting for ..."
//   limit   from now; the last look is made when it is over
//   look    an error of unavailable, timeout or conflict means "not yet, for this reason"; any other ends the wait
//   wakeup  looks again as soon as it is notified; with it the pace is only a safety net
//   errors  timeout: "waiting for three etcd voters: timed out after 60 s: 2 of 3 vote"; cancelled; what look returned
Result<> wait_for(const Context& context, std::string_view what, Milliseconds limit,
                  const std::function<Result<Observation>()>& look, Wakeup* wakeup = nullptr, Pace pace = {});

// Calls `attempt` until it succeeds, pausing in between, up to `attempts` times; only errors of unavailable and timeout are
// worth another try. The pause doubles. errors: the last one, cancelled
template <class T>
Result<T> retry(const Context& context, int attempts, Pace pace, const std::function<Result<T>()>& attempt);

// Lets a pause pass; false when a stop was asked for. Only for wait_for, retry and pacing towards others' rate limits.
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
