// Starts a program that continues after the call, unlike programs of sys::Runner.
#pragma once

#include "base/result.h"

#include <sys/types.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace slipway::provider::local {

struct Spawn {
  std::vector<std::string> argv;                          // the program is searched in PATH
  std::vector<std::pair<int, int>> descriptors{};         // {descriptor of slipway, descriptor of the program}
  std::optional<std::vector<std::string>> environment{};  // "NAME=value"; not set: the environment of slipway
  std::string directory{};                                // empty: the working directory of slipway
  bool new_session = false;                               // outlives slipway, inherits no other descriptors
};

// Starts the program with default signal handlers and no blocked signals. errors: as system calls
Result<pid_t> spawn(const Spawn& what);

}  // namespace slipway::provider::local
