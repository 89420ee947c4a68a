#include "provider/call_event.h"

namespace slipway::provider {

void report_call(const sys::Context& context, const CallReport& call, const std::optional<std::string>& failure) {
  // Progress of a resource, whose own events tell people enough.
  sys::Event event{.kind = "call",
                   .name = std::string(call.name),
                   .phase = sys::Phase::progress,
                   .fields = {{"object", call.object},
                              {"request_id", call.request_id},
                              {"attempts", call.attempts},
                              {"took_ms", (context.clock.steady() - call.begin).count()}}};
  if (failure) event.fields["failure"] = *failure;
  context.events.emit(std::move(event));
}

}  // namespace slipway::provider
