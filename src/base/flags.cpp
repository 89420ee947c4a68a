#include "base/flags.h"

#include "base/check.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway {

const std::string& Flags::text(std::string_view name) const {
  const std::vector<std::string>& all = texts(name);
  static const std::string nothing;
  return all.empty() ? nothing : all.back();
}

const std::vector<std::string>& Flags::texts(std::string_view name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end());
  return found->second;
}

bool Flags::is_set(std::string_view name) const { return text(name) == "true"; }

bool Flags::is_given(std::string_view name) const {
  const auto found = given_.find(name);
  CHECK(found != given_.end());
  return found->second;
}

Result<Flags> parse_flags(std::string_view program, const std::vector<Flag>& table, const std::vector<std::string>& arguments) {
  Flags flags;
  for (const Flag& flag : table) {
    flags.values_[flag.name] = flag.fallback.empty() ? std::vector<std::string>{} : std::vector<std::string>{flag.fallback};
    flags.given_[flag.name] = false;
  }
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (!word.starts_with('-') || word == "-" || word == "--") {
      problems.push_back(fmt::format("'{}' is not a flag", word));
      continue;
    }
    const std::string_view body = word.substr(word.starts_with("--") ? 2 : 1);
    const std::size_t equals = body.find('=');
    const std::string_view name = body.substr(0, equals);
    const auto flag = std::ranges::find_if(table, [&](const Flag& candidate) {
      return candidate.name == name || (name.size() == 1 && candidate.letter == name[0]);
    });
    if (flag == table.end()) {
      problems.push_back(fmt::format("unknown flag --{}", name));
      if (equals == std::string_view::npos && i + 1 < arguments.size() && !arguments[i + 1].starts_with('-')) ++i;
      continue;
    }
    std::string value;
    if (equals != std::string_view::npos) {
      value = body.substr(equals + 1);
    } else if (flag->is_switch) {
      value = "true";
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      problems.push_back(fmt::format("--{} requires a value", flag->name));
      continue;
    }
    if (flag->is_switch && value != "true" && value != "false") {
      problems.push_back(fmt::format("--{} must be true or false, got '{}'", flag->name, value));
      continue;
    }
    std::vector<std::string>& values = flags.values_[flag->name];
    if (!flag->repeats || !flags.given_[flag->name]) values.clear();
    values.push_back(std::move(value));
    flags.given_[flag->name] = true;
  }
  for (const Flag& flag : table) {
    if (flag.required && flags.text(flag.name).empty()) problems.push_back(fmt::format("--{} is missing", flag.name));
  }
  if (!problems.empty()) return error(Code::invalid, "{}: {}", program, join(problems, "; "));
  return flags;
}

}  // namespace slipway
