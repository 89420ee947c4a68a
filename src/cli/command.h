// Commands of slipway: rows of a table. cli/commands.cpp is the table; only cli/parse.cpp reads argv.
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
  std::string value{};  // the placeholder in help, "REGISTRY/REPOSITORY"; empty for a switch
  std::string help;
  bool required = false;
  std::string fallback{};              // the default
  std::vector<std::string> choices{};  // allowed values; empty: all
  bool repeats = false;                // may be repeated; a repeating positional takes all remaining arguments
};

// The values of the command line. A command can only read names that it declares.
class Arguments {
 public:
  Arguments(std::map<std::string, std::string> values, std::map<std::string, std::vector<std::string>> lists = {})
      : values_(std::move(values)), lists_(std::move(lists)) {}

  // The value of an option or a positional ("IMAGE|DIR"), its default, or empty. The value of a switch is "true" or "".
  const std::string& operator[](const std::string& name) const;
  bool has(const std::string& name) const { return !(*this)[name].empty(); }

  // The values of an option or positional that repeats, in order.
  const std::vector<std::string>& list(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<std::string>> lists_;
};

using cluster::ExitStatus;

// The environment of commands, created once in main.
struct Environment : net::Environment {
  // Exit status of the program. After a success it is used as it is. After an error it is `interrupted` if that is the cause,
  // otherwise the status that the command set, otherwise `failure`.
  int& exit_status;
  std::string program = "slipway";  // the name by which it was called
};

// Returns `result`; if it is an error, the program exits with `status`.
template <class T>
Result<T> or_exit_with(ExitStatus status, const Environment& environment, Result<T> result) {
  if (!result.ok()) environment.exit_status = static_cast<int>(status);
  return result;
}

struct Command {
  std::string words;                  // "release info"
  std::string summary;                // one line of help
  std::vector<Option> positionals{};  // in order
  std::vector<Option> options{};
  Result<> (*run)(const Environment& environment, const Arguments& arguments) = nullptr;  // null: a group, which prints its help
  bool is_hidden = false;                                                                 // not in help: called by slipway itself
  std::string when_interrupted{};  // what keeps running and how to continue, a sentence without a full stop
};

// Options of every command; they may come before or after its words.
std::span<const Option> global_options();

// All commands.
std::span<const Command> commands();

}  // namespace slipway::cli
