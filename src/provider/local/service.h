// A program that serves the machines of a cluster for as long as the owner lives.
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
    std::string_view is_up;                           // part of a line that it prints once its sockets are there
    std::function<void(std::string_view)> on_line{};  // what else is done with its lines
  };

  explicit Service(Plan plan) : plan_(std::move(plan)) {}

  // Runs until a stop; starts again when the program ends, and waits through a shortage to start it. errors: cancelled; it cannot
  // be started
  Result<> run(const sys::Context& context, sys::Runner& runner);

  // errors: timeout, with the last thing that it said
  Result<> wait_until_up(const sys::Context& context);

 private:
  struct ServiceOutput {
    bool is_up = false;
    std::string last_line;
  };

  const Plan plan_;
  Guarded<ServiceOutput> output_;
  sys::Wakeup heard_;
};

}  // namespace slipway::provider::local
