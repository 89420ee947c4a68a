#include "components/controller/desired_object.h"

#include "base/digest.h"
#include "components/controller/object_parts.h"
#include "kube/contains.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace slipway::components {

namespace {

// `data` as the server stores it: with stringData, encoded.
JsonObject data_of(const Json& object) {
  JsonObject data = find_object(object, {"data"});
  for (const auto& [key, text] : find_object(object, {"stringData"})) {
    data[key] = base64_encode(find_string(object, {"stringData", key}).value_or(""));
  }
  return data;
}

// Whether all wanted members are as wanted. A member that is null must be missing.
bool has_members(const JsonObject& wanted, const JsonObject& live) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& member) {
    const Json* value = live.if_contains(member.key());
    return member.value().is_null() ? value == nullptr : value != nullptr && *value == member.value();
  });
}

void merge_members(const JsonObject& wanted, JsonObject& metadata, std::string_view key) {
  if (wanted.empty()) return;
  JsonObject members;
  if (const Json* known = metadata.if_contains(key); known && known->is_object()) members = known->get_object();
  for (const auto& [name, value] : wanted) {
    if (value.is_null()) {
      members.erase(name);
    } else {
      members[name] = value;
    }
  }
  metadata[key] = std::move(members);
}

}  // namespace

std::string space_of(const DesiredObject& desired) {
  if (!desired.type.namespaced) return "";
  const std::string_view space = kube::namespace_of(desired.object);
  return space.empty() ? "default" : std::string(space);
}

std::string key_of(const DesiredObject& desired) {
  return fmt::format("{}.{} {}/{}", desired.type.plural, desired.type.group, space_of(desired), kube::name_of(desired.object));
}

bool holds_data(const kube::ResourceType& type) { return type == kube::types::config_maps || type == kube::types::secrets; }

bool is_fulfilled(const DesiredObject& desired, const Json* live) {
  switch (desired.how) {
    case DesiredObject::How::remove: return !live || is_terminating(*live);
    case DesiredObject::How::create: return live;
    case DesiredObject::How::status: return live && find_object(*live, {"status"}) == find_object(desired.object, {"status"});
    case DesiredObject::How::apply: break;
  }
  if (!live) return false;
  if (!holds_data(desired.type)) return !kube::first_difference(desired.object, *live);
  const auto has = [&](std::string_view key) {
    return has_members(find_object(desired.object, {"metadata", key}), find_object(*live, {"metadata", key}));
  };
  return data_of(desired.object) == find_object(*live, {"data"}) &&
         find_object(desired.object, {"binaryData"}) == find_object(*live, {"binaryData"}) && has("labels") && has("annotations");
}

bool is_fulfilled(const DesiredObject& desired, const Snapshot& seen) {
  return is_fulfilled(desired, seen.find(desired.type, space_of(desired), kube::name_of(desired.object)));
}

Json new_object(Json object) {
  if (!object.is_object()) return object;
  Json* metadata = object.get_object().if_contains("metadata");
  if (!metadata || !metadata->is_object()) return object;
  for (const char* key : {"resourceVersion", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                          "generation", "managedFields", "selfLink"}) {
    metadata->get_object().erase(key);
  }
  for (const char* key : {"labels", "annotations"}) {
    const JsonObject wanted = find_object(*metadata, {key});
    metadata->get_object().erase(key);
    merge_members(wanted, metadata->get_object(), key);
  }
  return object;
}

Json copy_of(const Json& original, std::string_view space, std::string_view name) {
  JsonObject copy{{"apiVersion", "v1"},
                  {"kind", find_string(original, {"kind"}).value_or("")},
                  {"metadata", {{"name", name}, {"namespace", space}}},
                  {"data", find_object(original, {"data"})}};
  if (const auto type = find_string(original, {"type"})) copy["type"] = *type;
  return copy;
}

Json updated_object(Json live, const Json& wanted) {
  JsonObject& object = live.as_object();
  object["data"] = data_of(wanted);
  object.erase("binaryData");
  if (const Json* binary = find(wanted, {"binaryData"})) object["binaryData"] = *binary;
  for (const char* key : {"labels", "annotations"}) {
    merge_members(find_object(wanted, {"metadata", key}), object["metadata"].as_object(), key);
  }
  return live;
}

bool covers(const Watched& watched, const DesiredObject& desired) {
  if (watched.type != desired.type || (!watched.space.empty() && watched.space != space_of(desired))) return false;
  const std::string& fields = watched.selection.fields;
  return watched.selection.labels.empty() &&
         (fields.empty() || fields == fmt::format("metadata.name={}", kube::name_of(desired.object)));
}

}  // namespace slipway::components
