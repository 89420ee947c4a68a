// slipway, the program on the user's machine: wires the real world to the commands.
#include "cli/command.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "main/world.h"
#include "sys/signals.h"

#include <unistd.h>
#include <cstdio>

namespace {

using namespace slipway;

// As openshift-install has it (installer 1.2).
int exit_status(const Error& error) { return error.code() == Code::cancelled ? 8 : 1; }

int run(const cli::Invocation& invocation, const sys::StopOnSignal& signals) {
  World world("slipway", invocation.log_level, signals.token());
  world.events.add_sink(cli::progress_sink(::isatty(STDERR_FILENO) == 1, [](std::string_view text) { write_to(stderr, text); }));
  if (!invocation.events_path.empty()) {
    world.events.add_sink(sys::journal_sink(world.files, invocation.events_path, [&](const Error& why) {
      world.log.warn("cannot write events: {}; continuing without them", why.message());
    }));
  }
  int status = 0;
  const cli::Environment environment{world.environment(), status};
  Result<> result = invocation.command->run(environment, invocation.arguments);
  if (result.ok()) return status;
  world.log.error("{}", result.error().message());
  return exit_status(result.error());
}

}  // namespace

int main(int argc, char** argv) {
  const sys::StopOnSignal signals;
  const cli::Parsed parsed = cli::parse("slipway", {argv + 1, argv + argc}, cli::commands());
  if (parsed.invocation) return run(*parsed.invocation, signals);
  write_to(parsed.status == 0 ? stdout : stderr, parsed.text);
  return parsed.status;
}
