// Commands of slipway: rows of a table. cli/commands.cpp is the table, cli/parse.cpp the only file that reads argv.
#pragma once

#include "base/result.h"
#include "net/environment.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cli {

struct Option {
  std::string name;   // "--to"
  std::string value;  // what stands for the value in help, "REGISTRY/REPOSITORY"; empty for a switch
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

// What commands act on; made once in main.
struct Environment : net::Environment {
  int& exit_status;  // when a command succeeds; one that runs a program for people sets the program's
};

struct Command {
  std::string words;                  // "release info"
  std::string summary;                // one line of help
  std::vector<Option> positionals{};  // in order
  std::vector<Option> options{};
  Result<> (*run)(const Environment& environment, const Arguments& arguments) = nullptr;  // null: a group, whose help is shown
  bool is_hidden = false;                                                                 // not in help: slipway calls it itself
};

// Every command there is.
std::span<const Command> commands();

}  // namespace slipway::cli
