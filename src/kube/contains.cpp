#include "kube/contains.h"

#include "base/digest.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::kube {

namespace {

using Difference = std::optional<std::string>;

std::string scalar_text(const Json& value) {
  return value.is_string() ? std::string(value.get_string()) : emit_json(value, JsonStyle::compact);
}

bool is_collection(const Json& value) { return value.is_object() || value.is_array(); }

Difference compare(const Json& wanted, const Json* live, const std::string& field);

Difference compare_members(const JsonObject& wanted, const Json& live, const std::string& field) {
  for (const auto& [key, value] : wanted) {
    const std::string inner = field.empty() ? std::string(key) : fmt::format("{}.{}", field, std::string_view(key));
    if (Difference difference = compare(value, slipway::find(live, {key}), inner)) return difference;
  }
  return std::nullopt;
}

Difference compare(const Json& wanted, const Json* live, const std::string& field) {
  if (is_empty(&wanted) && is_empty(live)) return std::nullopt;
  if (!live) return field;
  if (wanted.is_object()) return live->is_object() ? compare_members(wanted.get_object(), *live, field) : Difference(field);
  if (wanted.is_array()) {
    const JsonArray& items = wanted.get_array();
    if (!live->is_array() || live->get_array().size() != items.size()) return field;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (Difference difference = compare(items[i], &live->get_array()[i], fmt::format("{}[{}]", field, i))) return difference;
    }
    return std::nullopt;
  }
  if (is_collection(*live) || scalar_text(wanted) != scalar_text(*live)) return field;
  return std::nullopt;
}

}  // namespace

bool is_empty(const Json* value) {
  if (!value || value->is_null()) return true;
  if (value->is_array()) return value->get_array().empty();
  if (!value->is_object()) return false;
  const JsonObject& members = value->get_object();
  return std::all_of(members.begin(), members.end(), [](const auto& member) { return is_empty(&member.value()); });
}

std::optional<std::string> first_difference(const Json& wanted, const Json& live) {
  if (!wanted.is_object()) return std::string("the whole object");
  for (const auto& [key, value] : wanted.get_object()) {
    if (key == "apiVersion" || key == "kind" || key == "status" || key == "metadata") continue;
    if (key == "stringData") {  // of a Secret; the server stores it encoded in data
      for (const auto& [name, text] : find_object(wanted, {"stringData"})) {
        const Json encoded(base64_encode(scalar_text(text)));
        if (Difference difference =
                compare(encoded, slipway::find(live, {"data", name}), fmt::format("data.{}", std::string_view(name))))
          return difference;
      }
      continue;
    }
    if (Difference difference = compare(value, slipway::find(live, {key}), std::string(key))) return difference;
  }
  for (const char* key : {"labels", "annotations"}) {
    const std::string field = fmt::format("metadata.{}", key);
    if (Difference difference =
            compare_members(find_object(wanted, {"metadata", key}), find_object(live, {"metadata", key}), field))
      return difference;
  }
  return std::nullopt;
}

}  // namespace slipway::kube
