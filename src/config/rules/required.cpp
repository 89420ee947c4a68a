#include "base/text.h"
#include "config/defaults.h"
#include "config/rules/section.h"

#include <algorithm>

namespace slipway::config {

namespace {

// The first sentence of the description of a field, as a hint: "the region, as in us-east-1".
std::string hint_of(const Field& field) {
  std::string hint(field.about.substr(0, field.about.find(". ")));
  if (hint.ends_with('.')) hint.pop_back();
  const bool is_acronym = hint.size() > 1 && to_lower(hint.substr(1, 1)) != hint.substr(1, 1);
  return is_acronym ? hint : to_lower(hint.substr(0, 1)) + hint.substr(1);
}

// Whether there is already a finding about the field or about a field in it.
bool is_reported(const Document& document, const std::string& path) {
  return std::ranges::any_of(document.findings.all(), [&](const Finding& finding) {
    return finding.field == path || finding.field.starts_with(path + ".");
  });
}

void validate_object(const Section& object, Fields fields) {
  for (const Field& field : fields) {
    const Section member = object.at(field.name);
    const bool is_missing = field.is_required && is_empty(member.value());
    if (is_missing && !is_reported(object.document(), member.path())) object.need(field.name, hint_of(field));
    if (!field.members) continue;
    if (member.value().is_object()) validate_object(member, field.members());
    for (const Section& item : object.items(field.name)) {
      if (item.value().is_object()) validate_object(item, field.members());
    }
  }
}

}  // namespace

void validate_required(Document& document) { validate_object(Section(document, {}), install_config_fields()); }

}  // namespace slipway::config
