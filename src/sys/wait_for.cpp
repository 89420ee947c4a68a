#include "sys/wait_for.h"

#include <algorithm>

namespace slipway::sys {

namespace {

bool is_not_yet(Code code) { return code == Code::unavailable || code == Code::timeout || code == Code::conflict; }

}  // namespace

Result<> wait_for(const Context& context, std::string_view what, Milliseconds limit,
                  const std::function<Result<Observation>()>& observe, Wakeup* wakeup, Pace pace) {
  const SteadyTime deadline = context.clock.steady() + limit;
  Milliseconds between = pace.first;
  std::string reason;
  for (;;) {
    // Read before the check: a change during the check ends the pause at once.
    const std::uint64_t seen = wakeup ? wakeup->count() : 0;
    const bool last = context.clock.steady() >= deadline;
    Result<Observation> observed = observe();
    if (observed.ok()) {
      if (observed->is_done()) return Ok{};
      reason = observed->reason();
    } else if (is_not_yet(observed.error().code())) {
      reason = observed.error().message();
    } else {
      return std::move(observed).error().context(fmt::format("waiting for {}", what));
    }
    if (last) return error(Code::timeout, "waiting for {}: timed out after {}: {}", what, human_duration(limit), reason);
    context.clock.wait(std::min(context.clock.steady() + between, deadline), context.stop, wakeup, seen);
    if (context.stop.stop_requested()) return error(Code::cancelled, "waiting for {}: stopped: {}", what, reason);
    between = std::min(between * 2, pace.longest);
  }
}

bool pause(const Context& context, Milliseconds duration) {
  context.clock.wait(context.clock.steady() + duration, context.stop, nullptr, 0);
  return !context.stop.stop_requested();
}

}  // namespace slipway::sys
