// The XML answers of AWS as values.
#pragma once

#include "base/result.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::aws {

// An element. Attributes and namespace prefixes are left out: answers of AWS have nothing in them.
struct Xml {
  std::string name{};
  std::string text{};  // of an element without children
  std::vector<Xml> children{};

  // The first element at this path below this one; an empty element if there is none.
  const Xml& at(std::initializer_list<std::string_view> path) const;
  const std::string& text_at(std::initializer_list<std::string_view> path) const { return at(path).text; }
  bool has(std::string_view child) const;
};

// Returns the root. errors: invalid: not XML
Result<Xml> parse_xml(std::string_view text);

// Text for an element's content: & < > are escaped.
std::string escape_xml(std::string_view text);

}  // namespace slipway::provider::aws
