#include "operators/lib/document.h"

#include "base/yaml.h"
#include "data/data.h"

#include <algorithm>

namespace slipway::operators {

Result<std::string> fill_text(std::string_view path, const TemplateValues& values) {
  return fill_template(data::content(data::operators(), path), path, values);
}

Result<Json> fill_document(std::string_view path, const TemplateValues& values) {
  const std::string text = TRY(fill_text(path, values));
  return TRY(parse_yaml(text, path)).value;
}

Result<RenderedFiles> fill_folder(std::string_view folder, std::string_view target, const TemplateValues& values) {
  RenderedFiles files;
  const std::string prefix = std::string(folder) + "/";
  for (const data::File& file : data::operators()) {
    if (!file.path.starts_with(prefix)) continue;
    std::string content = TRY(fill_template(file.content, file.path, values));
    files.push_back({fmt::format("{}/{}", target, file.path.substr(prefix.size())), std::move(content)});
  }
  return files;
}

Json merge_layers(Json base, const Json& over) {
  if (!base.is_object() || !over.is_object()) return over;
  JsonObject& members = base.get_object();
  for (const auto& [key, value] : over.get_object()) {
    Json& member = members[key];
    member = merge_layers(std::move(member), value);
  }
  return base;
}

Json with_sorted_keys(const Json& value) {
  if (value.is_array()) {
    JsonArray items;
    for (const Json& item : value.get_array()) items.push_back(with_sorted_keys(item));
    return items;
  }
  if (!value.is_object()) return value;
  std::vector<std::string_view> keys;
  for (const auto& member : value.get_object()) keys.push_back(member.key());
  std::ranges::sort(keys);
  JsonObject sorted;
  for (std::string_view key : keys) sorted[key] = with_sorted_keys(value.get_object().at(key));
  return sorted;
}

Json texts(const std::vector<std::string>& values) {
  JsonArray items;
  for (const std::string& value : values) items.emplace_back(value);
  return items;
}

std::string quoted(std::string_view text) { return emit_json(Json(text), JsonStyle::compact); }

}  // namespace slipway::operators
