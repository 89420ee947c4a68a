#include "base/number.h"
#include "base/similar.h"
#include "base/text.h"
#include "config/document.h"
#include "config/schema/schema.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace slipway::config {

namespace {

// Longer values, and values of several lines, are not quoted in messages.
constexpr std::size_t longest_quoted = 60;

std::string member_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

// The value for messages: "the string 'x'", or "a string" if the value is secret or long.
std::string described(const Json& value, const Field& field) {
  if (field.is_secret || value.is_structured() || value.is_null()) return std::string(kind_name(value));
  if (!value.is_string()) return emit_json(value, JsonStyle::compact);
  const std::string_view text = value.get_string();
  const bool is_plain = std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  return is_plain && text.size() <= longest_quoted ? fmt::format("the string '{}'", text) : std::string(kind_name(value));
}

std::string choice(const std::vector<std::string_view>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += i + 1 == values.size() ? " or " : ", ";
    text += values[i];
  }
  return text;
}

// The meaning of the words of YAML 1.1 for booleans. Go's library accepts these for boolean fields.
std::optional<bool> boolean_word(std::string_view text) {
  const std::string word = to_lower(text);
  for (const std::string_view yes : {"true", "yes", "on", "y"}) {
    if (word == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "off", "n"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

bool is_whole_number(std::string_view text) { return parse_number<std::int32_t>(text).has_value(); }

class Reader {
 public:
  Reader(std::string name, bool strict, Document& document) : name_(std::move(name)), strict_(strict), document_(document) {}

  JsonObject members(const JsonObject& given, const YamlPlaces& places, Fields fields, const std::string& path) {
    JsonObject result;
    std::size_t index = 0;
    for (const auto& member : given) {
      const YamlPlaces& at = inner(places, index++);
      const Field* field = find_field(fields, member.key());
      if (!field) {
        report_unknown(member_path(path, member.key()), member.key(), fields, at);
        continue;
      }
      const std::string field_path = member_path(path, field->name);
      if (document_.was_given(field_path)) {
        document_.findings.error(place(at), field_path, "duplicate field, here as '{}'", std::string_view(member.key()));
        continue;
      }
      if (auto value = read(member.value(), at, *field, field_path)) result[field->name] = std::move(*value);
    }
    return result;
  }

 private:
  Place place(const YamlPlaces& places) const { return {name_, places.line, places.column}; }

  // Values of an alias have no places. The place of the alias is used instead.
  static const YamlPlaces& inner(const YamlPlaces& places, std::size_t index) {
    return index < places.inner.size() ? places.inner[index] : places;
  }

  void report_unknown(const std::string& path, std::string_view key, Fields fields, const YamlPlaces& at) {
    std::vector<std::string_view> names;
    for (const Field& field : fields) names.push_back(field.name);
    auto added = strict_ ? document_.findings.error(place(at), path, "unknown field")
                         : document_.findings.warning(place(at), path, "unknown field, no effect");
    if (const std::string_view near = similar_word(key, names); !near.empty())
      added.hint(fmt::format("did you mean '{}'?", near));
  }

  // Nothing for null and for values of the wrong kind.
  std::optional<Json> read(const Json& value, const YamlPlaces& places, const Field& field, const std::string& path) {
    if (value.is_null()) {
      if (!field.null_is_wrong) return std::nullopt;
      document_.remember(path, place(places));
      document_.reject(path, "has no value").hint(fmt::format("use '{}: {{}}'", field.name));
      return std::nullopt;
    }
    document_.remember(path, place(places));
    report_older(field, path);
    return field.is_list ? list(value, places, field, path) : single(value, places, field, path);
  }

  void report_older(const Field& field, const std::string& path) {
    if (field.instead.empty()) return;
    auto added = document_.warning(path, "deprecated field");
    added.hint(field.instead == nothing_instead ? "no effect; remove it" : fmt::format("use {}", field.instead));
  }

  std::optional<Json> single(const Json& value, const YamlPlaces& places, const Field& field, const std::string& path) {
    switch (field.kind) {
      case Kind::any: remember_inner(value, places, path); return value;
      case Kind::text: return text(value, field, path);
      case Kind::integer: return integer(value, field, path);
      case Kind::boolean: return boolean(value, field, path);
      case Kind::object: return object(value, places, field, path);
      case Kind::map: return map(value, places, field, path);
    }
    return std::nullopt;
  }

  void remember_inner(const Json& value, const YamlPlaces& places, const std::string& path) {
    std::size_t index = 0;
    const auto visit = [&](const Json& child, const std::string& child_path) {
      const YamlPlaces& at = inner(places, index++);
      document_.remember(child_path, place(at));
      remember_inner(child, at, child_path);
    };
    if (const JsonObject* object = value.if_object()) {
      for (const auto& member : *object) visit(member.value(), member_path(path, member.key()));
    } else if (const JsonArray* items = value.if_array()) {
      for (const Json& item : *items) visit(item, fmt::format("{}[{}]", path, index));
    }
  }

  Findings::Added wrong_kind(const std::string& path, std::string_view wanted, const Json& value, const Field& field) {
    return document_.reject(path, "must be {}, got {}", wanted, described(value, field));
  }

  std::optional<Json> text(const Json& value, const Field& field, const std::string& path) {
    if (value.is_structured() || value.is_null()) {
      auto added = wrong_kind(path, "a string", value, field);
      if (value.is_object()) added.hint("enclose it in single quotes");
      return std::nullopt;
    }
    Json read = value.is_string() ? value : Json(emit_json(value, JsonStyle::compact));
    check_allowed(read.get_string(), field, path);
    return read;
  }

  // A value that is not allowed is kept: rules for other fields may depend on it.
  void check_allowed(std::string_view value, const Field& field, const std::string& path) {
    if (value.empty() || field.allowed.empty()) return;
    const std::vector<std::string_view> allowed = allowed_values(field);
    if (std::ranges::find(allowed, value) != allowed.end()) return;
    auto added = document_.reject(path, "must be {}, got '{}'", choice(allowed), value);
    if (const std::string_view near = similar_word(value, allowed); !near.empty()) {
      added.hint(fmt::format("did you mean '{}'?", near));
    }
  }

  std::optional<Json> integer(const Json& value, const Field& field, const std::string& path) {
    using Limits = std::numeric_limits<std::int32_t>;
    if (!value.is_number()) {
      auto added = wrong_kind(path, "a whole number", value, field);
      if (value.is_string() && is_whole_number(value.get_string())) added.hint("remove the quotes");
      return std::nullopt;
    }
    const double number = value.is_double()  ? value.get_double()
                          : value.is_int64() ? static_cast<double>(value.get_int64())
                                             : static_cast<double>(value.get_uint64());
    if (number != std::floor(number) || number < Limits::min() || number > Limits::max()) {
      wrong_kind(path, "a whole number of 32 bits", value, field);
      return std::nullopt;
    }
    return Json(static_cast<std::int64_t>(number));
  }

  std::optional<Json> boolean(const Json& value, const Field& field, const std::string& path) {
    if (value.is_bool()) return value;
    if (value.is_string()) {
      if (const auto word = boolean_word(value.get_string())) return Json(*word);
    }
    wrong_kind(path, "true or false", value, field);
    return std::nullopt;
  }

  std::optional<Json> object(const Json& value, const YamlPlaces& places, const Field& field, const std::string& path) {
    if (const JsonObject* given = value.if_object()) return Json(members(*given, places, field.members(), path));
    wrong_kind(path, "a mapping", value, field);
    return std::nullopt;
  }

  std::optional<Json> map(const Json& value, const YamlPlaces& places, const Field& field, const std::string& path) {
    const JsonObject* given = value.if_object();
    if (!given) {
      wrong_kind(path, "a mapping", value, field);
      return std::nullopt;
    }
    JsonObject result;
    std::size_t index = 0;
    for (const auto& member : *given) {
      const YamlPlaces& at = inner(places, index++);
      const std::string member_at = member_path(path, member.key());
      document_.remember(member_at, place(at));
      if (auto read = text(member.value(), field, member_at)) result[member.key()] = std::move(*read);
    }
    return Json(std::move(result));
  }

  std::optional<Json> list(const Json& value, const YamlPlaces& places, const Field& field, const std::string& path) {
    const JsonArray* items = value.if_array();
    if (!items) {
      auto added = wrong_kind(path, "a list", value, field);
      if (!value.is_structured() && !field.is_secret) added.hint("write each item on its own line, beginning with '- '");
      return std::nullopt;
    }
    JsonArray result;
    for (std::size_t i = 0; i < items->size(); ++i) {
      const std::string item_path = fmt::format("{}[{}]", path, i);
      const YamlPlaces& at = inner(places, i);
      document_.remember(item_path, place(at));
      if ((*items)[i].is_null()) {
        document_.reject(item_path, "has no value");
        result.push_back(nullptr);
        continue;
      }
      // An unusable item becomes null: the following items keep their indexes.
      result.push_back(single((*items)[i], at, field, item_path).value_or(Json()));
    }
    return Json(std::move(result));
  }

  std::string name_;
  bool strict_;
  Document& document_;
};

}  // namespace

Place Document::place(std::string_view path) const {
  while (!path.empty()) {
    if (const auto found = places_.find(path); found != places_.end()) return found->second;
    const std::size_t end = path.find_last_of(".[");
    path = path.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return {name_, 1, 1};
}

std::string Document::as_written(const std::string& path) const {
  std::string_view newer = path;
  while (!newer.empty()) {
    if (const auto found = older_.find(newer); found != older_.end()) return found->second + path.substr(newer.size());
    const std::size_t end = newer.find_last_of(".[");
    newer = newer.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return path;
}

Findings::Added Document::add(Finding finding) {
  finding.field = as_written(finding.field);
  finding.place = place(finding.field);
  const auto is_same = [&](const Finding& other) {
    return other.severity == finding.severity && other.field == finding.field && other.message == finding.message;
  };
  if (rejected_.contains(finding.field) || std::ranges::any_of(findings.all(), is_same)) {
    discarded_ = std::move(finding);
    return Findings::Added(discarded_);
  }
  return findings.add(std::move(finding));
}

void read_fields(const YamlDocument& yaml, bool strict, Fields fields, Document& document) {
  if (yaml.value.is_null()) return;
  const JsonObject* top = yaml.value.if_object();
  if (!top) {
    document.findings
        .error({yaml.name, yaml.places.line, yaml.places.column}, "", "must be a mapping, got {}", kind_name(yaml.value))
        .hint("for example 'apiVersion: v1'");
    return;
  }
  document.value = Reader(yaml.name, strict, document).members(*top, yaml.places, fields, "");
}

}  // namespace slipway::config
