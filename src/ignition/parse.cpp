#include "ignition/parse.h"

#include "base/similar.h"
#include "base/yaml.h"
#include "ignition/fields.h"

#include <limits>

namespace slipway::ignition {

namespace {

// The field of a struct with the name most similar to `key`; empty if none is similar.
template <IsStruct T>
std::string_view near_name(std::string_view key) {
  std::vector<std::string_view> names;
  for_each_field<T>([&](const auto& field) { names.push_back(field.name); });
  return similar_word(key, names);
}

class Reader {
 public:
  Reader(Version version, Findings& findings) : version_(version), findings_(findings) {}

  template <IsStruct T>
  void read(const Json& json, const std::string& path, const FieldRules& outer, T& into) {
    const JsonObject* object = json.if_object();
    if (!object) return wrong_kind(path, "an object", json);
    for (const auto& member : *object) {
      const std::string_view key = member.key();
      const Json& value = member.value();
      bool known = false;
      for_each_field<T>([&](const auto& field) {
        if (field.name != key) return;
        known = true;
        if (const Version needed = version_of(field, outer); needed > version_) {
          findings_
              .warning({}, member_path(path, key), "requires spec {}, ignored in a config of {}", to_string(needed),
                       to_string(version_))
              .hint(fmt::format("set ignition.version to {}", to_string(needed)));
          return;
        }
        if (!value.is_null()) read(value, member_path(path, key), field.rules, into.*field.member);
      });
      if (!known) {
        auto added = findings_.warning({}, member_path(path, key), "unknown key, no effect");
        if (const std::string_view near = near_name<T>(key); !near.empty()) added.hint(fmt::format("did you mean '{}'?", near));
      }
    }
  }

 private:
  template <class T>
  void read(const Json& json, const std::string& path, const FieldRules& outer, std::vector<T>& into) {
    const JsonArray* array = json.if_array();
    if (!array) return wrong_kind(path, "a list", json);
    for (std::size_t i = 0; i < array->size(); ++i) read((*array)[i], item_path(path, i), outer, into.emplace_back());
  }

  template <class T>
  void read(const Json& json, const std::string& path, const FieldRules& outer, std::optional<T>& into) {
    read(json, path, outer, into.emplace());
  }

  void read(const Json& json, const std::string& path, const FieldRules&, std::string& into) {
    if (const auto* text = json.if_string()) {
      into = std::string_view(*text);
    } else {
      wrong_kind(path, "a string", json);
    }
  }

  void read(const Json& json, const std::string& path, const FieldRules&, bool& into) {
    if (const bool* flag = json.if_bool()) {
      into = *flag;
    } else {
      wrong_kind(path, "true or false", json);
    }
  }

  void read(const Json& json, const std::string& path, const FieldRules&, std::int64_t& into) {
    if (const std::int64_t* number = json.if_int64()) {
      into = *number;
    } else if (json.is_uint64() && json.get_uint64() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      into = static_cast<std::int64_t>(json.get_uint64());
    } else if (json.is_number()) {
      findings_.error({}, path, "must be a 64-bit integer, got {}", emit_json(json, JsonStyle::compact));
    } else {
      wrong_kind(path, "an integer", json);
    }
  }

  void read(const Json&, const std::string&, const FieldRules&, Version& into) { into = version_; }

  void wrong_kind(const std::string& path, std::string_view needed, const Json& json) {
    findings_.error({}, path, "must be {}, got {}", needed, kind_name(json));
  }

  Version version_;
  Findings& findings_;
};

template <class T>
Json write(const T& value);

template <IsStruct T>
JsonObject write_members(const T& value) {
  JsonObject object;
  for_each_field<T>([&](const auto& field) {
    Json member = write(value.*field.member);
    if (!member.is_null()) object.emplace(field.name, std::move(member));
  });
  return object;
}

// Returns null for values that are omitted.
template <class T>
Json write(const T& value) {
  if constexpr (IsStruct<T>) {
    JsonObject object = write_members(value);
    return object.empty() ? Json() : Json(std::move(object));
  } else if constexpr (is_list<T>) {
    JsonArray array;
    for (const auto& item : value) {
      if constexpr (IsStruct<typename T::value_type>) {
        array.emplace_back(write_members(item));
      } else {
        array.emplace_back(write(item));
      }
    }
    return array.empty() ? Json() : Json(std::move(array));
  } else if constexpr (is_optional<T>) {
    return value ? write(*value) : Json();
  } else if constexpr (std::is_same_v<T, Version>) {
    return Json(to_string(value));
  } else {
    return Json(value);
  }
}

// Reads the version first: it decides how the other fields are read.
std::optional<Version> read_version(const Json& value, const std::string& root, Findings& findings) {
  const std::string path = member_path(member_path(root, "ignition"), "version");
  const Json* json = find(value, {"ignition", "version"});
  if (!json || json->is_null()) {
    findings.error({}, path, "missing, must be a version of the spec").hint("for example 3.2.0");
    return std::nullopt;
  }
  const auto* text = json->if_string();
  if (!text) {
    findings.error({}, path, "must be a string, got {}", kind_name(*json));
    return std::nullopt;
  }
  const std::optional<Version> version = find_version(*text);
  if (!version) {
    findings.error({}, path, "unsupported version '{}'", std::string_view(*text))
        .hint(fmt::format("use one of {} to {}", to_string(oldest_version), to_string(newest_version)));
  }
  return version;
}

}  // namespace

Parsed parse(const Json& value, const std::string& root) {
  Parsed parsed;
  if (!value.is_object()) {
    parsed.findings.error({}, root, "must be an object, got {}", kind_name(value));
    return parsed;
  }
  if (const auto version = read_version(value, root, parsed.findings)) {
    Reader(*version, parsed.findings).read(value, root, {}, parsed.config);
  }
  return parsed;
}

Result<Parsed> parse_text(std::string_view text, std::string_view name) {
  Parsed parsed = parse(TRY(parse_json(text, name)));
  parsed.findings = located(parsed.findings, text, name);
  return parsed;
}

Findings located(const Findings& findings, const std::function<Place(std::string_view field)>& place_of) {
  Findings result;
  for (Finding finding : findings.all()) {
    finding.place = place_of(finding.field);
    result.add(std::move(finding));
  }
  return result;
}

Findings located(const Findings& findings, std::string_view text, std::string_view name) {
  if (findings.empty()) return findings;
  const auto document = parse_yaml(text, name);
  return located(findings,
                 [&](std::string_view field) { return document.ok() ? document->place_of(field) : Place{std::string(name)}; });
}

Json to_json(const Config& config) { return Json(write_members(config)); }

}  // namespace slipway::ignition
