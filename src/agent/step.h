// Steps: what the service asks a host to do.
#pragma once

#include "agent/service_client.h"
#include "agent/system_tree.h"
#include "base/json.h"
#include "base/result.h"
#include "net/environment.h"

#include <string>
#include <string_view>

namespace slipway::agent {

class Installer;

// What a step works with. Refers to objects that outlive it.
struct StepWorld {
  const net::Environment& environment;
  const SystemTree& tree;
  const ServiceClient& service;
  Installer* installer;
};

// What the agent posts after a step. The output is a JSON text whose shape depends on the step.
struct StepReply {
  int exit_code = 0;
  std::string output{};
  std::string error{};

  bool operator==(const StepReply&) const = default;
};

// An error of a step becomes exit code 1 with the message.
using StepFunction = Result<StepReply> (*)(const StepWorld& world, const Json& arguments);

struct Step {
  std::string_view type;  // as in the API: "connectivity-check"
  StepFunction run;
};

// The step of this type; null if this agent does not have it.
const Step* find_step(std::string_view type);

inline StepReply json_reply(const Json& output) { return {.output = emit_json(output, JsonStyle::compact)}; }

}  // namespace slipway::agent
