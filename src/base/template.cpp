#include "base/template.h"

#include "base/text.h"

#include <vector>

namespace slipway {

namespace {

constexpr std::string_view name_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

struct Hole {
  std::size_t begin = std::string_view::npos;  // first brace
  std::size_t end = 0;                         // after the last brace
  std::string_view name;
};

Hole next_hole(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("{{", from); at != std::string_view::npos; at = text.find("{{", at + 1)) {
    const std::size_t name_end = text.find_first_not_of(name_characters, at + 2);
    if (name_end == std::string_view::npos || name_end == at + 2 || text.substr(name_end, 2) != "}}") continue;
    return {at, name_end + 2, text.substr(at + 2, name_end - at - 2)};
  }
  return {};
}

}  // namespace

std::set<std::string, std::less<>> template_holes(std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (Hole hole = next_hole(text, 0); hole.begin != std::string_view::npos; hole = next_hole(text, hole.end)) {
    names.emplace(hole.name);
  }
  return names;
}

Result<std::string> fill_template(std::string_view text, std::string_view name, const TemplateValues& values) {
  std::string filled;
  std::vector<std::string> missing;
  std::size_t copied = 0;
  for (Hole hole = next_hole(text, 0); hole.begin != std::string_view::npos; hole = next_hole(text, hole.end)) {
    const auto value = values.find(hole.name);
    if (value == values.end()) {
      missing.emplace_back(hole.name);
      continue;
    }
    filled += text.substr(copied, hole.begin - copied);
    filled += value->second;
    copied = hole.end;
  }
  if (!missing.empty()) return error(Code::invalid, "{}: no value for {}", name, join(missing, ", "));
  filled += text.substr(copied);
  return filled;
}

}  // namespace slipway
