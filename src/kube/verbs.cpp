#include "kube/verbs.h"
#include "kube/client.h"

#include "net/url.h"

#include <algorithm>

namespace slipway::kube {

namespace {

constexpr int largest_page = 500;  // objects
constexpr int smaller_by = 8;

std::string object_path(const ResourceType& type, std::string_view namespace_name, std::string_view name,
                        std::string_view subresource = {}) {
  return path_of(type, type.namespaced && namespace_name.empty() ? "default" : namespace_name, name, subresource);
}

void set_missing(Json& object, std::string_view key, const std::string& value) {
  if (object.is_object() && !object.get_object().contains(key)) object.get_object()[key] = value;
}

// Reads one page of a list, with at most `size` objects. An answer may have 64 MiB (net::Request::answer_limit) and an object
// 1.5 MiB. A page that is too large is requested again with fewer objects, down to one, which always fits. `size` keeps the
// smaller value for the following pages.
Result<Json> list_page(const sys::Context& context, Api& api, Milliseconds limit, const std::string& path,
                       const std::string& selection, const std::string& next, int& size) {
  const std::string from = next.empty() ? "" : "&continue=" + net::percent_encode(next);
  for (;;) {
    Result<Json> page = api.send(context, {.path = fmt::format("{}?limit={}{}{}", path, size, selection, from), .limit = limit});
    if (page.ok() || page.error().code() != Code::too_large || size == 1) return page;
    size = std::max(1, size / smaller_by);
    context.log.debug("{}; retrying with {} objects per page", page.error().message(), size);
  }
}

}  // namespace

std::string root_of(std::string_view api_version) {
  return fmt::format("{}{}", api_version.find('/') == std::string_view::npos ? "/api/" : "/apis/", api_version);
}

std::string path_of(const ResourceType& type, std::string_view namespace_name, std::string_view name,
                    std::string_view subresource) {
  std::string path = root_of(type.api_version());
  if (type.namespaced && !namespace_name.empty()) path += fmt::format("/namespaces/{}", namespace_name);
  path += "/" + type.plural;
  // Names of roles may have characters that are special in URLs.
  if (!name.empty()) path += "/" + net::percent_encode(name);
  if (!subresource.empty()) path += fmt::format("/{}", subresource);
  return path;
}

std::string query_of(const Selection& selection) {
  std::string query;
  if (!selection.labels.empty()) query += "&labelSelector=" + net::percent_encode(selection.labels);
  if (!selection.fields.empty()) query += "&fieldSelector=" + net::percent_encode(selection.fields);
  return query;
}

Result<Json> get(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                 std::string_view name) {
  return api.send(context, {.path = object_path(type, namespace_name, name)});
}

Result<std::optional<Json>> find(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                                 std::string_view name) {
  Result<Json> object = get(context, api, type, namespace_name, name);
  if (object.ok()) return std::optional(std::move(object).value());
  if (object.error().code() == Code::not_found) return std::optional<Json>();
  return std::move(object).error();
}

Result<std::vector<Json>> list(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                               const Selection& selection, std::string* version) {
  return list_within(context, api, ApiRequest().limit, type, namespace_name, selection, version);
}

Result<std::vector<Json>> list_within(const sys::Context& context, Api& api, Milliseconds limit, const ResourceType& type,
                                      std::string_view namespace_name, const Selection& selection, std::string* version) {
  std::vector<Json> objects;
  std::string seen;
  TRY(list_each(context, api, limit, type, namespace_name, selection, seen, [&](Json object) -> Result<> {
    objects.push_back(std::move(object));
    return Ok{};
  }));
  if (version) *version = std::move(seen);
  return objects;
}

Result<> list_each(const sys::Context& context, Api& api, Milliseconds limit, const ResourceType& type,
                   std::string_view namespace_name, const Selection& selection, std::string& version,
                   const std::function<Result<>(Json)>& on_object) {
  std::string next;
  int size = largest_page;
  do {
    Json page = TRY(list_page(context, api, limit, path_of(type, namespace_name), query_of(selection), next, size));
    next = find_string(page, {"metadata", "continue"}).value_or("");
    version = find_string(page, {"metadata", "resourceVersion"}).value_or("");
    Json* items = page.is_object() ? page.get_object().if_contains("items") : nullptr;
    if (!items || !items->is_array()) continue;
    for (Json& item : items->get_array()) {
      set_missing(item, "apiVersion", type.api_version());
      set_missing(item, "kind", type.kind);
      TRY(on_object(std::move(item)));
    }
  } while (!next.empty());
  return Ok{};
}

Result<Json> create(const sys::Context& context, Api& api, const ResourceType& type, const Json& object) {
  return api.send(context, {.method = "POST", .path = object_path(type, namespace_of(object), {}), .body = object});
}

Result<Json> update(const sys::Context& context, Api& api, const ResourceType& type, const Json& object,
                    std::string_view subresource) {
  const std::string path = object_path(type, namespace_of(object), name_of(object), subresource);
  return api.send(context, {.method = "PUT", .path = path, .body = object});
}

Result<Json> merge_patch(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                         std::string_view name, const Json& patch, std::string_view subresource) {
  return api.send(context, {.method = "PATCH",
                            .path = object_path(type, namespace_name, name, subresource),
                            .body = patch,
                            .content_type = "application/merge-patch+json"});
}

Result<Json> apply(const sys::Context& context, Api& api, const ResourceType& type, const Json& object, std::string_view manager,
                   std::string_view subresource) {
  const std::string path = object_path(type, namespace_of(object), name_of(object), subresource);
  return api.send(context, {.method = "PATCH",
                            .path = fmt::format("{}?fieldManager={}&force=true", path, net::percent_encode(manager)),
                            .body = object,
                            .content_type = "application/apply-patch+yaml"});  // JSON is YAML
}

Result<> remove(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                std::string_view name) {
  const Result<Json> answer = api.send(context, {.method = "DELETE", .path = object_path(type, namespace_name, name)});
  if (answer.ok() || answer.error().code() == Code::not_found) return Ok{};
  return answer.error();
}

std::string_view name_of(const Json& object) { return find_string(object, {"metadata", "name"}).value_or(""); }
std::string_view namespace_of(const Json& object) { return find_string(object, {"metadata", "namespace"}).value_or(""); }

std::string describe(const Json& object) {
  const std::string_view kind = find_string(object, {"kind"}).value_or("object");
  const std::string_view space = namespace_of(object);
  return fmt::format("{} {}{}{}", kind, space, space.empty() ? "" : "/", name_of(object));
}

}  // namespace slipway::kube
