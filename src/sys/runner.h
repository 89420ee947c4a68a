// Runner: runs programs until they end.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sys/context.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::sys {

enum class Stream { out, err };

struct Command {
  std::vector<std::string> argv;                                 // a program without a slash is searched in PATH
  std::vector<std::string> environment{};                        // "NAME=value", added to this process's environment
  std::string directory{};                                       // working directory; if empty, that of this process
  std::string input{};                                           // standard input
  Milliseconds limit{0};                                         // time limit, after which the program is stopped; 0: none
  Milliseconds grace{5'000};                                     // between TERM and KILL
  std::uint64_t output_limit = 16u << 20;                        // bytes kept of each stream; the rest is dropped
  std::function<void(Stream, std::string_view line)> on_line{};  // called for each line, on the caller's thread
};

struct Output {
  int status = 0;  // exit status; 128 + N if signal N ended the program
  std::string out;
  std::string err;
};

// Runs a command in its own process group. It inherits only the three standard descriptors; signals have their default handling
// and none is blocked. When run() returns, the rest of the process group has been sent KILL. If this process dies, the kernel
// kills the program.
//
//   returns  also for an exit status other than 0: only the caller knows its meaning (see run_checked)
//   errors   not_found, denied: cannot be started; timeout: stopped at its limit; cancelled: stopped by a stop request
//   time     until the program ends; after a limit or a stop request at most the grace time
//   threads  any
class Runner {
 public:
  virtual ~Runner() = default;
  virtual Result<Output> run(const Context& context, const Command& command) = 0;
};

class RealRunner final : public Runner {
 public:
  Result<Output> run(const Context& context, const Command& command) override;
};

// Standard output of a command that must succeed. errors: those of run; unavailable: the exit status is not 0, with the command
// quoted for a shell and the last lines of its standard error
Result<std::string> run_checked(Runner& runner, const Context& context, const Command& command);

}  // namespace slipway::sys
