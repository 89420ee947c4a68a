// The agent: registers the host, asks the service what to do, runs the steps and posts the replies. It ends only when it is
// stopped.
#pragma once

#include "agent/instructions.h"
#include "agent/service_client.h"
#include "agent/step.h"
#include "base/flags.h"
#include "base/guarded.h"
#include "net/environment.h"

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace slipway::agent {

// Starts the steps of the service, each on its own thread, at most one of a type at a time, and posts their replies. A reply that
// equals the last one of its type is not posted again for an hour. A reply waits for a service that does not answer.
// Threads: one at a time.
class StepRunner {
 public:
  explicit StepRunner(const StepWorld& world) : world_(world) {}
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;
  ~StepRunner();  // asks the steps to stop, and waits for them

  void start(const Instructions& instructions);
  void forget_sent();  // see StepBook

 private:
  void run(const Instruction& instruction, const std::stop_token& stop);
  void post(const sys::Context& context, const Instruction& instruction, StepReply reply);

  const StepWorld& world_;
  Guarded<StepBook> book_;
  std::map<std::string, std::jthread> threads_;  // by type
};

struct AgentOptions {
  ServiceOptions service;
  std::string version{};    // that the host reports
  Seconds interval{60};     // between attempts to register
  std::string folder{};     // of the key and the ID
  std::string forced_id{};  // see load_identity
  std::string root{};       // see SystemTree
};

// Runs until the context is stopped.
//
//   errors  cancelled: stopped; conflict: an agent runs already; invalid: a key that cannot be read; those of files
//   blocks  until stopped. While the service is away, it asks with pauses of up to a minute, without end
Result<> run_agent(const net::Environment& environment, const AgentOptions& options);

// The flags of `slipway-agent run`.
const std::vector<Flag>& flags_of_run();

// slipway-agent run --url=URL --infra-env-id=ID [--cacert=FILE] [--token-file=FILE] [--agent-version=TEXT] [--interval=60]
//                   [--host-id=ID] [--folder=/var/lib/slipway-agent] [--root=DIR]
//
// The token is also read from the environment variable PULL_SECRET_TOKEN. root: where /proc, /sys and /run are, for tests and for
// machines that share a kernel; also read from the variable SLIPWAY_AGENT_ROOT
Result<> run_agent_command(const net::Environment& environment, const std::vector<std::string>& arguments);

// slipway-agent inventory [--root=DIR]: prints the inventory of this host.
Result<> run_inventory_command(const net::Environment& environment, const std::vector<std::string>& arguments);

}  // namespace slipway::agent
