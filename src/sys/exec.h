// Exec: becoming another program.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace slipway::sys {

// Becomes this program: the same process with its environment and its three standard descriptors, nothing else of ours open,
// default signals and nothing blocked. Returns only when that fails.
//
//   argv     the program is looked for in PATH when it has no slash
//   errors   not_found, denied: it cannot be started. What was done to the signals of this process is not undone
//   threads  the other ones just end: no destructor runs
Error become_program(std::vector<std::string> argv);

// Default handling of all signals, none blocked: what a program expects that is started. Also between fork and exec.
void reset_signals();

}  // namespace slipway::sys
