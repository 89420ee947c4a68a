// Command-line flags of programs in images and on machines, in Go's syntax: -name value, --name=value, switches without a value.
//
//   Flags flags = TRY(parse_flags("cluster-etcd-operator render", {{.name = "etcd-image", .required = true}, ...}, arguments));
//   flags.text("etcd-image")
#pragma once

#include "base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

struct Flag {
  std::string name;       // without dashes
  bool required = false;  // must be given with a value that is not empty
  std::string fallback{};
  bool is_switch = false;  // has no value, or =true or =false
  bool repeats = false;    // keeps all values; otherwise the last one
  char letter = 0;         // short form: 'o' for -o
};

class Flags {
 public:
  // The name must be in the table; any other name is a bug.
  const std::string& text(std::string_view name) const;                // the fallback if not given
  const std::vector<std::string>& texts(std::string_view name) const;  // all values, for a flag that repeats
  bool is_set(std::string_view name) const;                            // for a switch
  bool is_given(std::string_view name) const;

 private:
  friend Result<Flags> parse_flags(std::string_view, const std::vector<Flag>&, const std::vector<std::string>&);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::map<std::string, bool, std::less<>> given_;
};

// errors: invalid, listing all problems: unknown flags, flags without a value, missing required flags, switches that are not
// true or false, arguments that are not flags
Result<Flags> parse_flags(std::string_view program, const std::vector<Flag>& table, const std::vector<std::string>& arguments);

}  // namespace slipway
