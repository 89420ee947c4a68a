#include "provider/xml.h"

#include <fmt/core.h>
#include <pugixml.hpp>

#include <algorithm>

namespace slipway::provider {

namespace {

constexpr int deepest = 32;

std::string_view local_part(std::string_view name) { return name.substr(name.find(':') + 1); }

Xml value_of(const pugi::xml_node& node, int depth) {
  Xml made{.name = std::string(local_part(node.name())), .text = node.child_value()};
  for (const pugi::xml_attribute& each : node.attributes()) {
    const std::string_view name = each.name();
    if (name != "xmlns" && !name.starts_with("xmlns:")) made.attributes.emplace_back(name, each.value());
  }
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

const std::string& Xml::attribute(std::string_view wanted) const {
  static const std::string none;
  const std::string* with_prefix = &none;
  for (const auto& [each, value] : attributes) {
    if (each == wanted) return value;
    if (with_prefix == &none && local_part(each) == wanted) with_prefix = &value;
  }
  return *with_prefix;
}

std::string_view Xml::instance_type() const {
  for (const auto& [each, value] : attributes) {
    if (each.ends_with(":type")) return local_part(value);
  }
  return "";
}

Result<Xml> parse_xml(std::string_view text) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) return error(Code::invalid, "is not XML: {} at byte {}", parsed.description(), parsed.offset);
  return value_of(document.document_element(), 0);
}

std::string to_xml(const Xml& element, std::string_view name) {
  std::string made = fmt::format("<{}", name);
  for (const auto& [each, value] : element.attributes) {
    const bool is_instance_type = each.ends_with(":type");
    made += fmt::format(" {}=\"{}\"", is_instance_type ? "xsi:type" : local_part(each), escape_xml(value));
  }
  made += '>';
  if (element.children.empty()) made += escape_xml(element.text);
  for (const Xml& child : element.children) made += to_xml(child, child.name);
  return made + fmt::format("</{}>", name);
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
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace slipway::provider
