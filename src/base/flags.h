// Flags of our programs in images and on machines, as Go programs take them: -name value, --name=value, booleans without a value.
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
  bool required = false;  // and not empty
  std::string fallback{};
  bool is_switch = false;  // takes no value, or =true and =false
  bool repeats = false;    // every value counts; otherwise the last one does
  char letter = 0;         // a short form, 'o' for -o
};

class Flags {
 public:
  // Names have to be of the table; anything else is a bug.
  const std::string& text(std::string_view name) const;                // the fallback when not given
  const std::vector<std::string>& texts(std::string_view name) const;  // of one that repeats
  bool is_set(std::string_view name) const;                            // of a switch
  bool is_given(std::string_view name) const;

 private:
  friend Result<Flags> parse_flags(std::string_view, const std::vector<Flag>&, const std::vector<std::string>&);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::map<std::string, bool, std::less<>> given_;
};

// errors: invalid, naming everything that is wrong at once: unknown flags (with a similar one), missing values, required ones
// that are missing, words that are no flags
Result<Flags> parse_flags(std::string_view program, const std::vector<Flag>& table, const std::vector<std::string>& arguments);

}  // namespace slipway
