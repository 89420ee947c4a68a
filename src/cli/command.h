// Commands of slipway: rows of a table. cli/commands.cpp is the table, cli/parse.cpp the only file that reads argv.
#pragma once

#include "base/result.h"
#include "cluster/steps.h"
#include "net/environment.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cli {

struct Option {
  std::string name;     // "--to"
  std::string value{};  // what stands for the value in help, "REGISTRY/REPOSITORY"; empty for a switch
  std::string help;
  bool required = false;
  std::string fallback{};              // the value when it is not given
  std::vector<std::string> choices{};  // the values that are allowed, all when empty
  bool repeats = false;                // may be given several times; a positional then takes all that follow
};

// What was given on the command line; only names that the command declares can be asked for.
class Arguments {
 public:
  Arguments(std::map<std::string, std::string> values, std::map<std::string, std::vector<std::string>> lists = {})
      : values_(std::move(values)), lists_(std::move(lists)) {}

  // The value of an option or a positional ("IMAGE|DIR"), its fallback, or empty. A switch is "true" or "".
  const std::string& operator[](const std::string& name) const;
  bool has(const std::string& name) const { return !(*this)[name].empty(); }

  // The values of an option or positional that repeats, in order.
  const std::vector<std::string>& list(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<std::string>> lists_;
};

using cluster::ExitStatus;

// What commands act on; made once in main.
struct Environment : net::Environment {
  // Of the program: as it stands when a command succeeds. When one fails it is `interrupted` if that is why, else what the
  // command has set, else `failure`.
  int& exit_status;
  std::string program = "slipway";  // what it was called by
};

// The same result; with an error the program ends with that status.
template <class T>
Result<T> or_end_with(ExitStatus status, const Environment& environment, Result<T> result) {
  if (!result.ok()) environment.exit_status = static_cast<int>(status);
  return result;
}

struct Command {
  std::string words;                  // "release info"
  std::string summary;                // one line of help
  std::vector<Option> positionals{};  // in order
  std::vector<Option> options{};
  Result<> (*run)(const Environment& environment, const Arguments& arguments) = nullptr;  // null: a group, whose help is shown
  bool is_hidden = false;                                                                 // not in help: slipway calls it itself
  std::string when_interrupted{};  // what goes on and how to continue, a sentence without its dot
};

// What every command takes, before its words or behind them.
std::span<const Option> global_options();

// Every command there is.
std::span<const Command> commands();

}  // namespace slipway::cli
