#include "config/schema/json_schema.h"

#include "config/schema/schema.h"

#include <map>
#include <string>

namespace slipway::config {

namespace {

// The JSON types that the reader accepts for a kind.
JsonArray types_of(const Field& field) {
  switch (field.kind) {
    case Kind::any: return {};
    case Kind::text: return {"string", "number"};
    case Kind::integer: return {"integer"};
    case Kind::boolean: return {"boolean"};
    case Kind::object:
    case Kind::map: return {"object"};
  }
  return {};
}

// Collects the schemas of objects for $defs, each once. The name is the path of the first field with this object.
class Definitions {
 public:
  JsonObject object(Fields fields, const std::string& path) {
    JsonObject properties;
    JsonArray required;
    for (const Field& field : fields) {
      properties[field.name] = of_field(field, path.empty() ? std::string(field.name) : fmt::format("{}.{}", path, field.name));
      // A field with a text for the case without it is not required on all platforms.
      if (field.is_required && field.otherwise.empty()) required.push_back(Json(field.name));
    }
    JsonObject schema = {{"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty()) schema["required"] = std::move(required);
    return schema;
  }

  JsonObject take() { return std::move(definitions_); }

 private:
  using Table = Fields (*)();

  Json of_field(const Field& field, const std::string& path) {
    // A platform that this version does not support.
    if (field.kind == Kind::any && field.null_is_wrong) return false;
    const bool may_be_null = !field.null_is_wrong && !field.is_required;
    JsonObject schema;
    if (field.is_list) {
      schema["type"] = may_be_null ? Json(JsonArray{"array", "null"}) : Json("array");
      schema["items"] = of_value(field, false, path);
    } else {
      schema = of_value(field, may_be_null, path);
    }
    schema["description"] = field.about;
    if (!field.fallback.empty()) schema["default"] = fallback_value(field);
    if (!field.instead.empty()) schema["deprecated"] = true;
    if (field.is_secret) schema["writeOnly"] = true;
    return schema;
  }

  // The schema of one value of the field's kind. may_be_null: null is allowed and means "not given".
  JsonObject of_value(const Field& field, bool may_be_null, const std::string& path) {
    JsonObject schema;
    if (!field.allowed.empty()) {
      JsonArray values;
      for (const std::string_view value : allowed_values(field)) values.push_back(Json(value));
      values.push_back("");
      if (may_be_null) values.push_back(nullptr);
      schema["enum"] = std::move(values);
      return schema;
    }
    if (JsonArray types = types_of(field); !types.empty()) {
      if (may_be_null) types.push_back("null");
      schema["type"] = types.size() == 1 ? types[0] : Json(std::move(types));
    }
    if (field.members) schema["$ref"] = "#/$defs/" + name_of(field.members, path);
    if (field.kind == Kind::map) schema["additionalProperties"] = JsonObject{{"type", JsonArray{"string", "number", "null"}}};
    return schema;
  }

  const std::string& name_of(Table table, const std::string& path) {
    const auto [name, is_new] = names_.emplace(table, path);
    if (is_new) definitions_[path] = object(table(), path);
    return name->second;
  }

  std::map<Table, std::string> names_;
  JsonObject definitions_;
};

// One platform, or none and external together, which count as none.
void require_one_platform(JsonObject& schema) {
  JsonObject& platform = schema["properties"].as_object()["platform"].as_object();
  platform["minProperties"] = 1;
  platform["anyOf"] =
      JsonArray{JsonObject{{"maxProperties", 1}}, JsonObject{{"maxProperties", 2}, {"required", JsonArray{"none", "external"}}}};
}

// The pull secret is optional on platform local only.
void require_pull_secret(JsonObject& schema) {
  const JsonObject is_local = {{"properties", JsonObject{{"platform", JsonObject{{"required", JsonArray{"local"}}}}}}};
  schema["anyOf"] = JsonArray{JsonObject{{"required", JsonArray{"pullSecret"}}}, is_local};
}

}  // namespace

Json install_config_json_schema() {
  JsonObject schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "install-config.yaml"},
                       {"description", "What a cluster is made from."},
                       {"type", "object"}};
  Definitions definitions;
  for (auto& member : definitions.object(install_config_fields(), "")) schema[member.key()] = std::move(member.value());
  require_one_platform(schema);
  require_pull_secret(schema);
  schema["$defs"] = definitions.take();
  return schema;
}

}  // namespace slipway::config
