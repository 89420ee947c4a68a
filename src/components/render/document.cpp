#include "components/render/document.h"

#include "base/yaml.h"
#include "data/data.h"

namespace slipway::components {

Result<std::string> fill_text(std::string_view path, const TemplateValues& values) {
  return fill_template(data::content(data::components(), path), path, values);
}

Result<Json> fill_document(std::string_view path, const TemplateValues& values) {
  const std::string text = TRY(fill_text(path, values));
  return TRY(parse_yaml(text, path)).value;
}

Result<RenderedFiles> fill_folder(std::string_view folder, std::string_view target, const TemplateValues& values) {
  RenderedFiles files;
  const std::string prefix = std::string(folder) + "/";
  for (const data::File& file : data::components()) {
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

Json texts(const std::vector<std::string>& values) {
  JsonArray items;
  for (const std::string& value : values) items.emplace_back(value);
  return items;
}

std::string quoted(std::string_view text) { return emit_json(Json(text), JsonStyle::compact); }

}  // namespace slipway::components
