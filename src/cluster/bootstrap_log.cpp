#include "cluster/bootstrap_log.h"

#include "sys/events.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

namespace slipway::cluster {

void BootstrapLog::relay(const sys::Context& context, std::string_view line) {
  journal_.with_lock([](JournalState& journal) { ++journal.lines; });
  const Result<sys::Event> event = sys::parse_event(line);
  if (!event.ok()) return;  // cut by a kill
  journal_.with_lock([&](JournalState& journal) {
    if (event->phase == sys::Phase::failed) {
      journal.failed = event->name;
      journal.failure = fmt::format("{} {} failed: {}", event->kind, event->name, event->error ? event->error->message() : "");
    } else if (event->phase == sys::Phase::finished && event->name == journal.failed) {
      journal.failed.clear();
      journal.failure.clear();
    }
  });
  context.events.relay(event.value());
}

Result<> BootstrapLog::follow(const sys::Context& context, provider::Provider& machines) {
  if (!machines.capabilities().runs_commands) {
    context.clock.wait(SteadyTime::max(), context.stop, nullptr, 0);
    return error(Code::cancelled, "stopped");
  }
  while (!context.stop.stop_requested()) {
    const int from = 1 + journal_.with_lock([](const JournalState& journal) { return journal.lines; });
    const Result<sys::Output> ended = machines.run(
        context, "bootstrap",
        {.argv = {"tail", "--quiet", "--follow=name", "--retry", fmt::format("--lines=+{}", from), bootstrap_journal},
         .output_limit = 0,
         .on_line = [&](sys::Stream stream, std::string_view line) {
           if (stream == sys::Stream::out) relay(context, line);
         }});
    if (!ended.ok() && ended.error().code() != Code::conflict && ended.error().code() != Code::unavailable) return ended.error();
    if (!sys::pause(context, Milliseconds(200))) break;  // the machine is off or restarts
  }
  return error(Code::cancelled, "stopped");
}

std::string BootstrapLog::last_failure() const {
  return journal_.with_lock([](const JournalState& journal) { return journal.failure; });
}

}  // namespace slipway::cluster
