#include "provider/aws/xml.h"

#include <pugixml.hpp>

#include <algorithm>

namespace slipway::provider::aws {

namespace {

constexpr int deepest = 32;

Xml value_of(const pugi::xml_node& node, int depth) {
  const std::string_view name = node.name();
  Xml made{.name = std::string(name.substr(name.find(':') + 1)), .text = node.child_value()};
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() == pugi::node_element && depth < deepest) made.children.push_back(value_of(child, depth + 1));
  }
  return made;
}

}  // namespace

const Xml& Xml::at(std::initializer_list<std::string_view> path) const {
  static const Xml none;
  const Xml* found = this;
  for (const std::string_view each : path) {
    const auto next = std::ranges::find(found->children, each, &Xml::name);
    if (next == found->children.end()) return none;
    found = &*next;
  }
  return *found;
}

bool Xml::has(std::string_view child) const { return std::ranges::find(children, child, &Xml::name) != children.end(); }

Result<Xml> parse_xml(std::string_view text) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) return error(Code::invalid, "is not XML: {} at byte {}", parsed.description(), parsed.offset);
  return value_of(document.document_element(), 0);
}

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace slipway::provider::aws
