#include "config/schema/text.h"

#include "base/text.h"

namespace slipway::config {

std::string kind_text(const Field& field) {
  constexpr std::string_view names[] = {"any", "string", "integer", "boolean", "object", "map[string]string"};
  return fmt::format("{}{}", field.is_list ? "[]" : "", names[static_cast<std::size_t>(field.kind)]);
}

std::string join_allowed(const Field& field, std::string_view quote) {
  std::vector<std::string> values;
  for (const std::string_view value : allowed_values(field)) values.push_back(fmt::format("{}{}{}", quote, value, quote));
  return join(values, ", ");
}

std::string without_it(const Field& field, std::string_view quote) {
  if (!field.fallback.empty()) return fmt::format("{}{}{}", quote, field.fallback, quote);
  return std::string(field.otherwise);
}

std::string use_instead(const Field& field, std::string_view quote) {
  if (field.instead.empty()) return "";
  if (field.instead == nothing_instead) return "Deprecated: remove it.";
  return fmt::format("Deprecated: use {}{}{}.", quote, field.instead, quote);
}

}  // namespace slipway::config
