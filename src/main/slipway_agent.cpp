// slipway-agent, the program on the hosts of an assisted installation, one command each.
#include "agent/agent.h"
#include "main/world.h"
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
    Command{"run", "--url=URL --infra-env-id=ID [OPTIONS]", agent::run_agent_command},
    Command{"inventory", "[--root=DIR]", agent::run_inventory_command},
};

int usage() {
  fmt::print(stderr, "Usage: slipway-agent COMMAND\n");
  for (const Command& command : commands) fmt::print(stderr, "  {} {}\n", command.name, command.usage);
  return 2;
}

int run(const Command& command, const std::vector<std::string>& arguments, const sys::StopOnSignal& signals) {
  World world(std::string(command.name), Level::info, signals.token());
  const Result<> result = command.run(world.environment(), arguments);
  if (result.ok() || (result.error().code() == Code::cancelled && signals.token().stop_requested())) return 0;
  world.log.error("{}: {}", command.name, result.error().message());
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
