#include "config/rules/section.h"

#include "config/defaults.h"
#include "config/names.h"

#include <algorithm>

namespace slipway::config {

namespace {

const Json& nothing() {
  static const Json null;
  return null;
}

}  // namespace

Section::Section(Document& document, std::initializer_list<std::string_view> keys) : document_(&document) {
  const Json* found = find(document.value, keys);
  value_ = found ? found : &nothing();
  for (const std::string_view key : keys) path_ = path(key);
}

std::string Section::path(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

Section Section::at(std::string_view name) const {
  const Json* found = find(*value_, {name});
  return {*document_, found ? found : &nothing(), path(name)};
}

std::vector<Section> Section::items(std::string_view name) const {
  const JsonArray& list = find_array(*value_, {name});
  std::vector<Section> sections;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_null()) sections.push_back({*document_, &list[i], fmt::format("{}[{}]", path(name), i)});
  }
  return sections;
}

bool Section::has(std::string_view name) const { return !is_empty(at(name).value()); }

std::string_view Section::text() const { return find_string(*value_, {}).value_or(""); }

std::string_view Section::text(std::string_view name) const { return find_string(*value_, {name}).value_or(""); }

std::optional<std::int64_t> Section::number(std::string_view name) const {
  const Json* found = find(*value_, {name});
  return found && found->is_int64() ? std::optional(found->get_int64()) : std::nullopt;
}

bool Section::need(std::string_view name, std::string_view hint) const {
  if (has(name)) return true;
  const bool refused_before = !find(*value_, {name}) && document_->was_given(path(name));
  if (!refused_before) error_at(name, "missing").hint(std::string(hint));
  return false;
}

bool Section::one_of(std::string_view name, const std::vector<std::string_view>& words) const {
  const std::string_view word = text(name);
  if (word.empty()) return false;
  if (std::ranges::find(words, word) != words.end()) return true;
  error_at(name, "must be {}, got '{}'", choice_of(words), word);
  return false;
}

bool Section::not_negative(std::string_view name) const {
  const auto value = number(name);
  if (value && *value < 0) error_at(name, "must not be negative, got {}", *value);
  return value && *value >= 0;
}

bool Section::at_least_one(std::string_view name) const {
  const auto value = number(name);
  if (value && *value < 1) error_at(name, "must be at least 1, got {}", *value);
  return value && *value >= 1;
}

bool Section::unique_id() const {
  if (text().empty() || is_uuid(text())) return !text().empty();
  error("'{}' is not a UUID", text()).hint("for example 12345678-90ab-4cde-8f01-234567890abc");
  return false;
}

std::optional<net::IpAddress> Section::address() const {
  if (text().empty()) return std::nullopt;
  if (const auto address = net::parse_ip(text()); address.ok()) return address.value();
  error("'{}' is not an IP address", text());
  return std::nullopt;
}

void Distinct::add(const Section& value, std::string key) {
  if (key.empty()) return;
  const auto [place, is_new] = places_.emplace(std::move(key), value.path());
  if (!is_new) value.error("duplicate of {}", place->second).hint("must be unique");
}

std::string choice_of(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace slipway::config
