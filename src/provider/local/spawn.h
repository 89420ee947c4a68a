// Starts a program that lives beside ours, unlike those of sys::Runner, which end with the call.
#pragma once

#include "base/result.h"

#include <sys/types.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace slipway::provider::local {

struct Spawn {
  std::vector<std::string> argv;                          // the program is looked for in PATH
  std::vector<std::pair<int, int>> descriptors{};         // from a descriptor of ours to the program's number
  std::optional<std::vector<std::string>> environment{};  // "NAME=value"; ours when not given
  std::string directory{};                                // ours when empty
  bool new_session = false;                               // it outlives us, and has none of our descriptors but those
};

// With default signals, none of them blocked. errors: as system calls
Result<pid_t> spawn(const Spawn& what);

}  // namespace slipway::provider::local
