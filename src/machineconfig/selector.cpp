#include "machineconfig/selector.h"

#include <algorithm>

namespace slipway::machineconfig {

namespace {

bool fits(const Json& expression, const JsonObject& labels) {
  const std::string_view key = find_string(expression, {"key"}).value_or("");
  const std::string_view how = find_string(expression, {"operator"}).value_or("");
  const Json* value = labels.if_contains(key);
  const JsonArray& values = find_array(expression, {"values"});
  const bool is_listed = value && std::ranges::find(values, *value) != values.end();
  if (how == "In") return is_listed;
  if (how == "NotIn") return !is_listed;
  if (how == "Exists") return value != nullptr;
  return how == "DoesNotExist" && value == nullptr;
}

}  // namespace

bool selects(const Json* selector, const JsonObject& labels) {
  if (!selector || selector->is_null()) return false;
  const JsonObject& wanted = find_object(*selector, {"matchLabels"});
  const JsonArray& expressions = find_array(*selector, {"matchExpressions"});
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& member) {
                       const Json* value = labels.if_contains(member.key());
                       return value && *value == member.value();
                     }) &&
         std::ranges::all_of(expressions, [&](const Json& expression) { return fits(expression, labels); });
}

}  // namespace slipway::machineconfig
