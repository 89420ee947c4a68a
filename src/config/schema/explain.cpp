#include "config/schema/explain.h"

#include "base/similar.h"
#include "base/text.h"
#include "config/schema/schema.h"
#include "config/schema/text.h"

namespace slipway::config {

namespace {

constexpr std::string_view root = "installconfig";
constexpr std::size_t line_length = 100;

// Wraps the text into indented lines.
std::string paragraph(std::string_view text, std::string_view indent) {
  std::string result;
  std::string line;
  for (const std::string_view word : split(text, ' ')) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > line_length) {
      result += fmt::format("{}{}\n", indent, line);
      line.clear();
    }
    line += line.empty() ? std::string(word) : fmt::format(" {}", word);
  }
  return line.empty() ? result : result + fmt::format("{}{}\n", indent, line);
}

std::string details(const Field& field, std::string_view indent) {
  std::string text = paragraph(field.about, indent);
  if (!field.allowed.empty()) text += paragraph("One of " + join_allowed(field, ""), indent);
  if (const std::string without = without_it(field, ""); !without.empty()) text += paragraph("Default: " + without, indent);
  if (const std::string today = use_instead(field, ""); !today.empty()) text += paragraph(today, indent);
  return text;
}

std::string heading(const Field& field) {
  return fmt::format("{} <{}>{}", field.name, kind_text(field), field.is_required ? " -required-" : "");
}

std::string names_below(Fields fields, const std::string& indent) {
  std::string text;
  for (const Field& field : fields) {
    text += fmt::format("{}{}\n", indent, heading(field));
    if (field.members) text += names_below(field.members(), indent + "  ");
  }
  return text;
}

std::string fields_below(Fields fields) {
  std::string text;
  for (const Field& field : fields) {
    text += fmt::format("{}  {}\n{}", text.empty() ? "" : "\n", heading(field), details(field, "    "));
  }
  return text;
}

Error no_such_field(const std::string& parent, std::string_view name, Fields fields) {
  if (fields.empty()) return error(Code::not_found, "{} has no fields, so there is no {}", parent, name);
  std::vector<std::string_view> known;
  std::vector<std::string> all;
  for (const Field& field : fields) {
    known.push_back(field.name);
    all.emplace_back(field.name);
  }
  if (const std::string_view near = similar_word(name, known); !near.empty()) {
    return error(Code::not_found, "{} has no field {} (did you mean {}?)", parent, name, near);
  }
  return error(Code::not_found, "{} has no field {} (fields: {})", parent, name, join(all, ", "));
}

}  // namespace

Result<std::string> explain(std::string_view path, bool recursive) {
  while (path.ends_with('.')) path.remove_suffix(1);
  std::vector<std::string_view> names = split(path, '.');
  if (to_lower(names[0]) != root) {
    return error(Code::not_found, "'{}': nothing to explain (use a path that begins with {}, for example {}.platform)", names[0],
                 root, root);
  }
  std::string walked(root);
  const Field* field = nullptr;
  Fields fields = install_config_fields();
  for (std::size_t i = 1; i < names.size(); ++i) {
    const std::string_view name = names[i].substr(0, names[i].find('['));
    const Field* found = find_field(fields, name);
    if (!found) return no_such_field(walked, name, fields);
    field = found;
    fields = field->members ? field->members() : Fields();
    walked += fmt::format(".{}", field->name);
  }
  std::string text = "KIND:     InstallConfig\nVERSION:  v1\n\n";
  if (field) {
    text += fmt::format("FIELD: {}\n{}", heading(*field), details(*field, "  "));
  } else {
    text += "FIELD: installconfig <object>\n" + paragraph("The file install-config.yaml, from which a cluster is created.", "  ");
  }
  if (fields.empty()) return text;
  return text + "\nFIELDS:\n" + (recursive ? names_below(fields, "  ") : fields_below(fields));
}

}  // namespace slipway::config
