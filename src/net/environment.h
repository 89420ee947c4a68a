// Environment: access to the outside world for functions with side effects. main creates it once.
#pragma once

#include "net/http.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/random.h"
#include "sys/runner.h"

#include <functional>
#include <string_view>

namespace slipway::net {

// Cheap to copy; refers to objects that live as long as the program.
struct Environment {
  const sys::Context& context;
  sys::Files& files;
  sys::Runner& runner;
  sys::Random& random;
  Http& http;
  std::function<void(std::string_view)> print{};  // writes to standard output

  // A copy with another context, for a task.
  Environment with(const sys::Context& own) const { return {own, files, runner, random, http, print}; }
};

}  // namespace slipway::net
