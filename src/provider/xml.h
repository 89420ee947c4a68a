// XML answers of platforms as values.
#pragma once

#include "base/result.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::provider {

// An element. Names have no namespace prefix.
struct Xml {
  std::string name{};
  std::string text{};                                             // of an element without children
  std::vector<std::pair<std::string, std::string>> attributes{};  // names as written; without those of namespaces
  std::vector<Xml> children{};

  // The first element at this path below this one; an empty element if there is none.
  const Xml& at(std::initializer_list<std::string_view> path) const;
  const std::string& text_at(std::initializer_list<std::string_view> path) const { return at(path).text; }
  bool has(std::string_view child) const;

  // The value of the attribute without a prefix, otherwise of the first one with this name and a prefix; empty if there is none.
  const std::string& attribute(std::string_view name) const;

  // The value of xsi:type, whatever its prefix, without the prefix of the value: "ManagedObjectReference".
  std::string_view instance_type() const;
};

// Returns the root. errors: invalid: not XML
Result<Xml> parse_xml(std::string_view text);

// The element under another name. An attribute "type" with a prefix becomes xsi:type, other prefixes are dropped.
std::string to_xml(const Xml& element, std::string_view name);

// Text for an element's content or an attribute in double quotes: & < > " are escaped.
std::string escape_xml(std::string_view text);

}  // namespace slipway::provider
