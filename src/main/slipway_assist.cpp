// slipway-assist, the service of assisted installations.
#include "main/world.h"
#include "service/rendezvous.h"
#include "service/serve.h"
#include "sys/signals.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace slipway;

struct Command {
  std::string_view name;
  std::string_view usage;
  Result<> (*run)(const net::Environment& environment, const std::vector<std::string>& arguments);  // after the name
};

constexpr std::array commands = {
    Command{"serve", "--state DIR [OPTIONS]", service::run_serve},
    Command{"rendezvous", "[--config DIR] [--state DIR]", service::run_rendezvous},
    Command{"status", "--state DIR", service::run_status},
};

int usage() {
  fmt::print(stderr, "Usage: slipway-assist COMMAND\n");
  for (const Command& command : commands) fmt::print(stderr, "  {} {}\n", command.name, command.usage);
  return 2;
}

int run(const Command& command, const std::vector<std::string>& arguments, const sys::StopOnSignal& signals) {
  World world("slipway-assist", Level::info, signals.token());
  const Result<> result = command.run(world.environment(), arguments);
  if (result.ok()) return 0;
  world.log.error("{}", result.error().message());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const sys::StopOnSignal signals;
  if (argc < 2) return usage();
  for (const Command& command : commands) {
    if (command.name == argv[1]) return run(command, {argv + 2, argv + argc}, signals);
  }
  return usage();
}
