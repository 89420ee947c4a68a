// A program that serves the machines of a cluster while the owner runs.
#pragma once

#include "base/guarded.h"
#include "base/result.h"
#include "sys/context.h"
#include "sys/runner.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::provider::local {

// Threads: any.
class Service {
 public:
  struct Plan {
    std::string name;  // "the cluster's name server"
    std::vector<std::string> command;
    std::string_view is_up;                           // part of the line that the program prints when its sockets are open
    std::function<void(std::string_view)> on_line{};  // called for each line of output; may be empty
  };

  explicit Service(Plan plan) : plan_(std::move(plan)) {}

  // Runs the program until a stop. Restarts the program if it ends. If no descriptors are available, waits. errors: cancelled;
  // the program cannot be started
  Result<> run(const sys::Context& context, sys::Runner& runner);

  // errors: timeout, with the last line of output
  Result<> wait_until_up(const sys::Context& context);

 private:
  struct ServiceOutput {
    bool is_up = false;
    std::string last_line;
  };

  const Plan plan_;
  Guarded<ServiceOutput> output_;
  sys::Wakeup changed_;
};

}  // namespace slipway::provider::local
