#include "base/similar.h"
#include "base/text.h"
#include "config/document.h"
#include "config/schema.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace slipway::config {

namespace {

std::string member_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

class Reader {
 public:
  Reader(std::string name, Document& document) : name_(std::move(name)), document_(document) {}

  // Nothing for a null and for what is of a wrong kind.
  std::optional<Json> read(const Json& value, const YamlPlaces& places, const Schema& schema, const std::string& path) {
    if (value.is_null()) {
      if (!schema.null_is_wrong) return std::nullopt;
      remember(path, places);
      document_.error(path, "has no value").hint(fmt::format("write '{}: {{}}'", path.substr(path.rfind('.') + 1)));
      return std::nullopt;
    }
    remember(path, places);
    switch (schema.kind) {
      case Schema::Kind::any: remember_inner(value, places, path); return value;
      case Schema::Kind::text: return text(value, path);
      case Schema::Kind::integer: return integer(value, path);
      case Schema::Kind::boolean: return boolean(value, path);
      case Schema::Kind::object: return object(value, places, schema, path);
      case Schema::Kind::list: return list(value, places, schema, path);
    }
    return std::nullopt;
  }

 private:
  void remember(const std::string& path, const YamlPlaces& places) {
    document_.remember(path, {name_, places.line, places.column});
  }

  // Values behind an alias have no places of their own.
  const YamlPlaces& inner(const YamlPlaces& places, std::size_t index) const {
    return index < places.inner.size() ? places.inner[index] : places;
  }

  void remember_inner(const Json& value, const YamlPlaces& places, const std::string& path) {
    std::size_t index = 0;
    const auto visit = [&](const Json& child, const std::string& child_path) {
      const YamlPlaces& at = inner(places, index++);
      remember(child_path, at);
      remember_inner(child, at, child_path);
    };
    if (const JsonObject* members = value.if_object()) {
      for (const auto& member : *members) visit(member.value(), member_path(path, member.key()));
    } else if (const JsonArray* items = value.if_array()) {
      for (const Json& item : *items) visit(item, fmt::format("{}[{}]", path, index));
    }
  }

  std::optional<Json> wrong_kind(const std::string& path, std::string_view wanted, const Json& value) {
    // The value itself may be a secret.
    document_.error(path, "must be {}, not {}", wanted, kind_name(value));
    return std::nullopt;
  }

  std::optional<Json> text(const Json& value, const std::string& path) {
    if (value.is_string()) return value;
    if (value.is_bool() || value.is_number()) return Json(emit_json(value, JsonStyle::compact));
    document_.error(path, "must be a string, not {}", kind_name(value)).hint("put it into single quotes");
    return std::nullopt;
  }

  std::optional<Json> integer(const Json& value, const std::string& path) {
    using Limits = std::numeric_limits<std::int32_t>;
    if (!value.is_number()) return wrong_kind(path, "a whole number", value);
    const double number = value.is_double()  ? value.get_double()
                          : value.is_int64() ? static_cast<double>(value.get_int64())
                                             : static_cast<double>(value.get_uint64());
    if (number != std::floor(number) || number < Limits::min() || number > Limits::max()) {
      document_.error(path, "must be a whole number of 32 bits");
      return std::nullopt;
    }
    return Json(static_cast<std::int64_t>(number));
  }

  std::optional<Json> boolean(const Json& value, const std::string& path) {
    if (value.is_bool()) return value;
    if (value.is_string()) {
      // The words of YAML 1.1, which Go's library reads as booleans where one is wanted.
      const std::string word = to_lower(value.get_string());
      for (const std::string_view yes : {"true", "yes", "on", "y"}) {
        if (word == yes) return Json(true);
      }
      for (const std::string_view no : {"false", "no", "off", "n"}) {
        if (word == no) return Json(false);
      }
    }
    return wrong_kind(path, "true or false", value);
  }

  std::optional<Json> object(const Json& value, const YamlPlaces& places, const Schema& schema, const std::string& path) {
    const JsonObject* members = value.if_object();
    if (!members) return wrong_kind(path, "a mapping", value);
    JsonObject result;
    std::vector<std::string_view> names;
    for (const Member& member : schema.members) names.push_back(member.name);
    std::size_t index = 0;
    for (const auto& member : *members) {
      const YamlPlaces& at = inner(places, index++);
      const auto known = std::ranges::find_if(
          schema.members, [&](const Member& candidate) { return to_lower(candidate.name) == to_lower(member.key()); });
      if (known == schema.members.end()) {
        auto added = document_.findings.warning({name_, at.line, at.column}, member_path(path, member.key()),
                                                "this field is not known and has no effect");
        if (const std::string_view near = similar_word(member.key(), names); !near.empty()) {
          added.hint(fmt::format("did you mean '{}'?", near));
        }
        continue;
      }
      const std::string known_path = member_path(path, known->name);
      if (document_.was_given(known_path)) {
        document_.findings.error({name_, at.line, at.column}, known_path, "stands twice, here as '{}'",
                                 std::string_view(member.key()));
        continue;
      }
      if (auto read_value = read(member.value(), at, known->schema, known_path)) result[known->name] = std::move(*read_value);
    }
    return Json(std::move(result));
  }

  std::optional<Json> list(const Json& value, const YamlPlaces& places, const Schema& schema, const std::string& path) {
    const JsonArray* items = value.if_array();
    if (!items) return wrong_kind(path, "a list", value);
    JsonArray result;
    for (std::size_t i = 0; i < items->size(); ++i) {
      const std::string item_path = fmt::format("{}[{}]", path, i);
      if ((*items)[i].is_null()) {
        document_.findings.error({name_, inner(places, i).line, inner(places, i).column}, item_path, "has no value");
      }
      // An unusable item stays as null, so that the items behind it keep their places.
      result.push_back(read((*items)[i], inner(places, i), schema.item[0], item_path).value_or(Json()));
    }
    return Json(std::move(result));
  }

  std::string name_;
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

void read_fields(const YamlDocument& yaml, Document& document) {
  if (yaml.value.is_null()) return;
  Reader reader(yaml.name, document);
  if (auto value = reader.read(yaml.value, yaml.places, install_config_schema(), "")) document.value = std::move(*value);
}

}  // namespace slipway::config
