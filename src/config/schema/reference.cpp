#include "config/schema/reference.h"

#include "base/text.h"
#include "config/schema/schema.h"
#include "config/schema/text.h"

#include <algorithm>
#include <vector>

namespace slipway::config {

namespace {

constexpr std::string_view introduction = R"(# install-config.yaml, every field

This page is a reference for people who write an install-config. The guide is [install-config.md](install-config.md).

`slipway explain --reference` prints this page from the table that the program uses to read the file. A test compares
both. `slipway explain --schema` prints the same as a JSON Schema.

Kinds: `[]` is a list, `map` has keys that the user chooses. Required fields have **required** instead of a default.
Older fields are converted to the current field and stay in the file.
)";

// An object of the file. Several fields can have the same object.
struct Section {
  Fields (*members)();
  std::vector<std::string> paths;
};

void collect(Fields fields, const std::string& path, std::vector<Section>& sections) {
  for (const Field& field : fields) {
    if (!field.members || field.members().empty()) continue;
    const std::string below = fmt::format("{}{}{}{}", path, path.empty() ? "" : ".", field.name, field.is_list ? "[]" : "");
    const auto known = std::ranges::find(sections, field.members, &Section::members);
    if (known == sections.end()) {
      sections.push_back({field.members, {below}});
      collect(field.members(), below, sections);
    } else {
      known->paths.push_back(below);
    }
  }
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string row(const Field& field) {
  std::string what(field.about);
  if (!field.allowed.empty()) what += fmt::format(" One of {}.", join_allowed(field, "`"));
  if (const std::string today = use_instead(field, "`"); !today.empty()) what += fmt::format(" {}", today);
  std::string without = without_it(field, "`");
  if (without.empty() && field.is_required) without = "**required**";
  return fmt::format("| `{}` | {} | {} | {} |\n", field.name, kind_text(field), cell(what), cell(without));
}

std::string table(Fields fields) {
  std::string text = "\n| field | kind | what | default |\n|---|---|---|---|\n";
  for (const Field& field : fields) text += row(field);
  return text;
}

}  // namespace

std::string install_config_reference() {
  std::vector<Section> sections;
  collect(install_config_fields(), "", sections);
  std::string text = std::string(introduction) + "\n## The file" + "\n" + table(install_config_fields());
  for (const Section& section : sections) {
    std::vector<std::string> paths;
    for (const std::string& path : section.paths) paths.push_back(fmt::format("`{}`", path));
    text += fmt::format("\n## {}\n{}", join(paths, ", "), table(section.members()));
  }
  return text;
}

}  // namespace slipway::config
