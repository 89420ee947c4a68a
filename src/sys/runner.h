// Runner: runs other programs to their end.
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
  std::vector<std::string> argv;                                 // the program is looked for in PATH when it has no slash
  std::vector<std::string> environment{};                        // "NAME=value", over our own
  std::string directory{};                                       // where it runs; ours when empty
  std::string input{};                                           // its standard input
  Milliseconds limit{0};                                         // after that long it is ended; 0: no limit
  Milliseconds grace{5'000};                                     // between TERM and KILL
  std::uint64_t output_limit = 16u << 20;                        // of each stream is kept; what is above is read and dropped
  std::function<void(Stream, std::string_view line)> on_line{};  // each line as it comes, on the caller's thread
};

struct Output {
  int status = 0;  // exit status; 128 + N when it died of signal N
  std::string out;
  std::string err;
};

// Runs a command in a process group of its own, with no descriptor of ours but its three, default signals and nothing
// blocked. Nothing of it lives on: when run() returns, all that was left in its process group has been sent KILL, and the
// kernel kills the program when we die ourselves.
//
//   returns  also when the exit status is not 0: only the caller knows what that means (see run_checked)
//   errors   not_found, denied: it cannot be started; timeout: ended at its limit; cancelled: ended because of a stop
//   time     until the program ends; after a limit or a stop at most the grace time more
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

// Standard output of a command that must succeed. errors: also unavailable when it exits with another status than 0, with
// the command as it can be pasted into a shell and the last lines of its standard error
Result<std::string> run_checked(Runner& runner, const Context& context, const Command& command);

}  // namespace slipway::sys
