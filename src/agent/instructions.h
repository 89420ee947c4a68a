// What the service answers when a host asks what to do.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::agent {

struct Instruction {
  std::string type;
  std::string id;
  Json arguments;  // of the first argument, which is a JSON text; null without arguments

  bool operator==(const Instruction&) const = default;
};

struct Instructions {
  Seconds next{60};        // when to ask again
  bool must_exit = false;  // the host must register again, for instance because it has another cluster
  std::vector<Instruction> steps{};

  bool operator==(const Instructions&) const = default;
};

// Reads {"next_instruction_seconds": 60, "post_step_action": "continue", "instructions": [{"step_type", "step_id", "args": []}]}.
// Unknown members are ignored. errors: invalid, with all wrong fields
Result<Instructions> parse_instructions(const Json& answer);

// Which steps run and which outputs the service has. Pure: the time is an argument. Threads: one at a time.
class StepBook {
 public:
  // Whether to start the step now. A step does not start while one of its type runs, nor when the step with the same ID started
  // less than `again_after` ago: the service repeats an instruction until the reply arrives.
  bool start(const Instruction& step, SteadyTime now, Milliseconds again_after);
  void end(const std::string& type);

  // Whether the service has this output of the type: it was sent less than an hour ago.
  bool is_known(const std::string& type, const std::string& output, SteadyTime now) const;
  void sent(const std::string& type, const std::string& output, SteadyTime now);
  void forget_sent() { sent_.clear(); }  // the service may have lost them

 private:
  struct Started {
    std::string id;
    SteadyTime at;
    bool is_running = true;
  };
  struct Sent {
    std::string output;
    SteadyTime at;
  };

  std::map<std::string, Started> started_;  // by type
  std::map<std::string, Sent> sent_;        // by type
};

}  // namespace slipway::agent
