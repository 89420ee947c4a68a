#include "support/fake_kube.h"

#include "base/check.h"
#include "kube/api_error.h"
#include "support/fake_kube_parts.h"

#include <algorithm>
#include <charconv>

namespace slipway::testing_support {

using kube::api_error;
using kube::ApiRequest;
using kube::name_of;
using kube::namespace_of;
using kube::ResourceType;

namespace {

thread_local bool is_in_hook = false;

constexpr const char* start_of_time = "2026-11-21T09:30:00Z";

std::string collection_of(const ResourceType& type) { return type.api_version() + "/" + type.plural; }
std::string key_of(std::string_view space, std::string_view name) { return fmt::format("{}/{}", space, name); }
std::string key_of(const Json& object) { return key_of(namespace_of(object), name_of(object)); }

JsonObject& metadata_of(Json& object) {
  Json& metadata = object.as_object()["metadata"];
  if (!metadata.is_object()) metadata = JsonObject();
  return metadata.as_object();
}

long number_of(const std::string& text) {
  long number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void copy_member(std::string_view key, const Json& from, Json& to) {
  const Json* value = find(from, {key});
  if (value) {
    to.as_object()[key] = *value;
  } else {
    to.as_object().erase(key);
  }
}

// The part of an object whose changes increment the generation.
Json specified_part(const Json& object) {
  Json part = object;
  part.as_object().erase("metadata");
  part.as_object().erase("status");
  return part;
}

}  // namespace

struct FakeKube::Target {
  std::string collection;
  Served served;
  std::string space, name, subresource;
  std::map<std::string, std::string> query;

  std::string key() const { return key_of(space, name); }
  bool is_status() const { return subresource == "status" || subresource == "approval"; }
  bool covers(const Json& object) const {
    auto value = [&](const char* key) { return query.contains(key) ? query.at(key) : ""; };
    return (space.empty() || namespace_of(object) == space) &&
           is_selected(object, value("labelSelector"), value("fieldSelector"));
  }
};

FakeKube::FakeKube() {
  for (const auto& [type, has_status] : common_types()) serve_locked(type, has_status);
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}, {"status", {{"phase", "Active"}}}});
  }
}

// ---- functions for tests

Json FakeKube::put(Json object) {
  std::lock_guard lock(mutex_);
  const Served* served = served_as(find_string(object, {"apiVersion"}).value_or(""), find_string(object, {"kind"}).value_or(""));
  CHECK(served != nullptr);  // serve() it first
  const std::string space(namespace_of(object));
  CHECK(served->type.namespaced == !space.empty());
  if (served->type.namespaced && !has_namespace(space)) {
    store(served_.at("v1/namespaces"), {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", space}}}});
  }
  return store(*served, std::move(object));
}

std::optional<Json> FakeKube::stored(const ResourceType& type, const std::string& space, const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto all = objects_.find(collection_of(type));
  if (all == objects_.end()) return std::nullopt;
  const auto found = all->second.find(key_of(space, name));
  return found == all->second.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Json> FakeKube::stored_all(const ResourceType& type) const {
  std::lock_guard lock(mutex_);
  std::vector<Json> all;
  const auto found = objects_.find(collection_of(type));
  if (found == objects_.end()) return all;
  for (const auto& [key, object] : found->second) all.push_back(object);
  return all;
}

void FakeKube::drop(const ResourceType& type, const std::string& space, const std::string& name) {
  std::lock_guard lock(mutex_);
  erase(collection_of(type), key_of(space, name));
}

void FakeKube::serve(const ResourceType& type, bool has_status) {
  std::lock_guard lock(mutex_);
  serve_locked(type, has_status);
}

void FakeKube::serve_openshift() {
  using namespace kube;
  for (const ResourceType& type :
       {types::cluster_versions, types::cluster_operators, types::infrastructures, types::networks, types::feature_gates}) {
    serve(type);
  }
}

void FakeKube::establish(const std::string& name) {
  std::lock_guard lock(mutex_);
  define(objects_.at(collection_of(kube::types::custom_resource_definitions)).at(key_of("", name)));
}

void FakeKube::end_watches(std::optional<Error> failure) {
  std::lock_guard lock(mutex_);
  ++watch_generation_;
  watch_failure_ = std::move(failure);
  changed_.notify_all();
}

void FakeKube::compact() {
  std::lock_guard lock(mutex_);
  compacted_ = version_;
}

void FakeKube::bookmark() {
  std::lock_guard lock(mutex_);
  ++bookmarks_;
  changed_.notify_all();
}

int FakeKube::writes() const {
  std::lock_guard lock(mutex_);
  return writes_;
}

std::vector<std::string> FakeKube::requests() const {
  std::lock_guard lock(mutex_);
  return requests_;
}

void FakeKube::forget() {
  std::lock_guard lock(mutex_);
  writes_ = 0;
  requests_.clear();
}

// ---- the store; all functions hold the lock

void FakeKube::serve_locked(const ResourceType& type, bool has_status) {
  served_.try_emplace(collection_of(type), Served{type, has_status, version_});
}

const FakeKube::Served* FakeKube::served_as(std::string_view api_version, std::string_view kind) const {
  for (const auto& [name, served] : served_) {
    if (served.type.kind == kind && served.type.api_version() == api_version) return &served;
  }
  return nullptr;
}

bool FakeKube::has_namespace(const std::string& name) const {
  const auto all = objects_.find("v1/namespaces");
  return all != objects_.end() && all->second.contains(key_of("", name));
}

Json FakeKube::store(const Served& served, Json object) {
  const std::string collection = collection_of(served.type);
  std::map<std::string, Json>& all = objects_[collection];
  const auto before = all.find(key_of(object));
  const bool is_new = before == all.end();
  JsonObject& metadata = metadata_of(object);
  if (is_new) {
    metadata.emplace("uid", fmt::format("00000000-0000-4000-8000-{:012}", next_uid_++));
    metadata.emplace("creationTimestamp", start_of_time);
    metadata.emplace("generation", 1);
  } else {
    metadata["uid"] = before->second.at("metadata").at("uid");
    metadata["creationTimestamp"] = before->second.at("metadata").at("creationTimestamp");
    const std::int64_t generation = before->second.at("metadata").at("generation").as_int64();
    metadata["generation"] = generation + (specified_part(before->second) == specified_part(object) ? 0 : 1);
  }
  object.as_object()["apiVersion"] = served.type.api_version();
  object.as_object()["kind"] = served.type.kind;
  metadata_of(object)["resourceVersion"] = std::to_string(++version_);
  changes_.push_back({version_, collection, is_new ? std::nullopt : std::optional(before->second), object});
  all[key_of(object)] = object;
  changed_.notify_all();
  if (is_new && collection == collection_of(kube::types::custom_resource_definitions) && establish_types) define(object);
  return all[key_of(object)];
}

void FakeKube::erase(const std::string& collection, const std::string& key) {
  std::map<std::string, Json>& all = objects_[collection];
  const auto found = all.find(key);
  if (found == all.end()) return;
  Json last = found->second;
  all.erase(found);
  metadata_of(last)["resourceVersion"] = std::to_string(++version_);
  changes_.push_back({version_, collection, last, std::nullopt});
  changed_.notify_all();
  if (collection == "v1/namespaces") {
    for (auto& [other, objects] : objects_) {
      std::vector<std::string> inside;
      for (const auto& [inner, object] : objects) {
        if (namespace_of(object) == name_of(last)) inside.push_back(inner);
      }
      for (const std::string& inner : inside) erase(other, inner);
    }
  }
  if (collection == collection_of(kube::types::custom_resource_definitions)) {
    const std::string plural(find_string(last, {"spec", "names", "plural"}).value_or(""));
    const std::string group(find_string(last, {"spec", "group"}).value_or(""));
    std::erase_if(served_, [&](const auto& entry) {
      if (entry.second.type.group != group || entry.second.type.plural != plural) return false;
      objects_.erase(entry.first);
      return true;
    });
  }
}

// Serves the type of a CustomResourceDefinition, and sets its conditions.
void FakeKube::define(const Json& definition) {
  const std::string group(find_string(definition, {"spec", "group"}).value_or(""));
  const std::string plural(find_string(definition, {"spec", "names", "plural"}).value_or(""));
  const std::string kind(find_string(definition, {"spec", "names", "kind"}).value_or(""));
  const bool namespaced = find_string(definition, {"spec", "scope"}) == "Namespaced";
  for (const Json& version : find_array(definition, {"spec", "versions"})) {
    const std::string name(find_string(version, {"name"}).value_or(""));
    serve_locked({group, name, plural, kind, namespaced}, find(version, {"subresources", "status"}) != nullptr);
  }
  Json established = definition;
  JsonArray conditions;
  for (const char* type : {"NamesAccepted", "Established"}) conditions.push_back({{"type", type}, {"status", "True"}});
  established.as_object()["status"] = {{"conditions", conditions}, {"acceptedNames", find_object(definition, {"spec", "names"})}};
  store(served_.at(collection_of(kube::types::custom_resource_definitions)), std::move(established));
}

// ---- requests

Result<FakeKube::Target> FakeKube::target_of(const ApiRequest& request) const {
  Target target;
  target.query = parse_query(request.path);
  const std::string path = request.path.substr(0, request.path.find('?'));
  std::vector<std::string> parts;
  for (std::string_view part : split(std::string_view(path).substr(1), '/')) parts.push_back(percent_decode(part));
  const std::size_t root = parts[0] == "api" ? 2 : 3;
  const Error unknown = api_error(request.method, request.path, 404, "the server could not find the requested resource");
  if ((parts[0] != "api" && parts[0] != "apis") || parts.size() <= root) return unknown;
  const std::string api_version = root == 2 ? parts[1] : parts[1] + "/" + parts[2];
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(root));
  const bool is_inside = parts[0] == "namespaces" && parts.size() >= 3 && parts[2] != "status" && parts[2] != "finalize";
  if (is_inside) {
    target.space = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  target.collection = api_version + "/" + parts[0];
  const auto served = served_.find(target.collection);
  if (served == served_.end() || (is_inside && !served->second.type.namespaced)) return unknown;
  target.served = served->second;
  if (parts.size() > 1) target.name = parts[1];
  if (parts.size() > 2) target.subresource = parts[2];
  if (target.is_status() && !target.served.has_status) return unknown;
  if (!target.name.empty() && target.served.type.namespaced && target.space.empty()) return unknown;
  return target;
}

Result<Json> FakeKube::send(const sys::Context& context, const ApiRequest& request) {
  if (context.stop.stop_requested()) return error(Code::cancelled, "{} {}: stopped", request.method, request.path);
  {
    std::lock_guard lock(mutex_);
    requests_.push_back(fmt::format("{} {}", request.method, request.path));
  }
  if (fail_request) {
    if (std::optional<Error> failure = fail_request(request)) return *failure;
  }
  std::optional<Json> written;
  Result<Json> result = [&] {
    std::lock_guard lock(mutex_);
    Result<Json> answered = answer(request, written);
    return answered;
  }();
  if (written && after_write && !is_in_hook) {
    is_in_hook = true;
    after_write(*written);
    is_in_hook = false;
  }
  return result;
}

Result<Json> FakeKube::answer(const ApiRequest& request, std::optional<Json>& written) {
  if (request.path == "/readyz" || request.path == "/healthz") return Json("ok");
  const std::size_t depth = static_cast<std::size_t>(std::count(request.path.begin(), request.path.end(), '/'));
  if (request.method == "GET" && depth == (request.path.starts_with("/api/") ? 2u : 3u)) return discover(request.path);
  const Target target = TRY(target_of(request));
  const long before = version_;
  Result<Json> result = Json(nullptr);
  if (request.method == "GET" && target.name.empty()) return list(request, target);
  const auto& all = objects_[target.collection];
  const bool is_there = all.contains(target.key());
  if (!target.name.empty() && !is_there && request.content_type != "application/apply-patch+yaml") {
    return api_error(request.method, request.path, 404,
                     fmt::format("{}{}{} \"{}\" not found", target.served.type.plural,
                                 target.served.type.group.empty() ? "" : ".", target.served.type.group, target.name));
  }
  if (request.method == "GET") return all.at(target.key());
  if (request.method == "DELETE") {
    result = remove(request, target);
  } else if (!request.body || !request.body->is_object()) {
    return api_error(request.method, request.path, 400, "the body is no object");
  } else if (request.method == "POST" && target.subresource == "eviction") {
    result = remove(request, target);
  } else if (request.method == "POST") {
    result = create(request, target);
  } else if (request.method == "PUT") {
    result = update(request, target, *request.body);
  } else if (request.method == "PATCH") {
    result = patch(request, target);
  } else {
    return api_error(request.method, request.path, 405, "the server does not allow this method on the requested resource");
  }
  if (version_ != before) {
    ++writes_;
    written = result.ok() ? result.value() : Json();
  }
  return result;
}

Result<Json> FakeKube::discover(const std::string& path) const {
  const std::string api_version = path.substr(path.find('/', 1) + 1);
  JsonArray resources;
  for (const auto& [collection, served] : served_) {
    if (served.type.api_version() != api_version) continue;
    resources.push_back({{"name", served.type.plural}, {"kind", served.type.kind}, {"namespaced", served.type.namespaced}});
    if (!served.has_status) continue;
    resources.push_back(
        {{"name", served.type.plural + "/status"}, {"kind", served.type.kind}, {"namespaced", served.type.namespaced}});
  }
  if (resources.empty()) return api_error("GET", path, 404, "the server could not find the requested resource");
  return Json{{"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", api_version}, {"resources", resources}};
}

Result<Json> FakeKube::list(const ApiRequest&, const Target& target) const {
  auto value = [&](const char* key) { return target.query.contains(key) ? number_of(target.query.at(key)) : 0; };
  const long limit = value("limit");
  long skip = value("continue");  // number of objects on earlier pages
  JsonArray items;
  Json metadata = {{"resourceVersion", std::to_string(version_)}};
  long seen = 0;
  const auto all = objects_.find(target.collection);
  for (const auto& [key, object] : all == objects_.end() ? std::map<std::string, Json>() : all->second) {
    if (!target.covers(object) || seen++ < skip) continue;
    if (limit > 0 && static_cast<long>(items.size()) == limit) {
      metadata.as_object()["continue"] = std::to_string(skip + limit);
      break;
    }
    Json item = object;
    item.as_object().erase("apiVersion");  // as servers do for built-in types
    item.as_object().erase("kind");
    items.push_back(std::move(item));
  }
  return Json{{"kind", target.served.type.kind + "List"},
              {"apiVersion", target.served.type.api_version()},
              {"metadata", metadata},
              {"items", items}};
}

Result<Json> FakeKube::create(const ApiRequest& request, const Target& target) {
  Json object = *request.body;
  const ResourceType& type = target.served.type;
  if (collection_of(type) == collection_of(kube::types::subject_access_reviews)) {
    object.as_object()["status"] = {{"allowed", !review || review(object)}};
    return object;
  }
  auto refuse = [&](int status, const std::string& words) { return api_error(request.method, request.path, status, words); };
  if (find_string(object, {"kind"}) != type.kind) return refuse(400, "the kind of the body is not that of the path");
  JsonObject& metadata = metadata_of(object);
  if (type.namespaced) {
    const std::string space = target.space;
    if (space.empty()) return refuse(405, "the server does not allow this method on the requested resource");
    if (!namespace_of(object).empty() && namespace_of(object) != space) {
      return refuse(400, "the namespace of the provided object does not match the namespace sent on the request");
    }
    if (!has_namespace(space)) return refuse(404, fmt::format("namespaces \"{}\" not found", space));
    metadata["namespace"] = space;
  }
  if (const auto prefix = find_string(object, {"metadata", "generateName"}); prefix && name_of(object).empty()) {
    metadata["name"] = fmt::format("{}{:05}", *prefix, next_uid_);
  }
  if (name_of(object).empty()) return refuse(422, "metadata.name: Required value: name or generateName is required");
  if (metadata.contains("resourceVersion")) return refuse(400, "resourceVersion should not be set on objects to be created");
  if (objects_[target.collection].contains(key_of(object))) {
    return refuse(409, fmt::format("{} \"{}\" already exists", type.plural, name_of(object)));
  }
  if (target.served.has_status) object.as_object().erase("status");
  return store(target.served, std::move(object));
}

Result<Json> FakeKube::update(const ApiRequest& request, const Target& target, Json wanted) {
  const Json& live = objects_[target.collection].at(target.key());
  const auto version = find_string(wanted, {"metadata", "resourceVersion"});
  if (version && !version->empty() && *version != find_string(live, {"metadata", "resourceVersion"})) {
    return api_error(request.method, request.path, 409,
                     fmt::format("Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your "
                                 "changes to the latest version and try again",
                                 target.served.type.plural, target.name));
  }
  if (target.is_status()) {
    Json whole = live;
    copy_member("status", wanted, whole);
    wanted = std::move(whole);
  } else if (target.served.has_status) {
    copy_member("status", live, wanted);
  }
  JsonObject& metadata = metadata_of(wanted);
  for (const char* key :
       {"uid", "creationTimestamp", "generation", "resourceVersion", "deletionTimestamp", "namespace", "name"}) {
    const Json* kept = find(live, {"metadata", key});
    if (kept) metadata[key] = *kept;
  }
  wanted.as_object()["apiVersion"] = target.served.type.api_version();
  wanted.as_object()["kind"] = target.served.type.kind;
  if (wanted == live) return live;
  if (metadata.contains("deletionTimestamp") && find_array(wanted, {"metadata", "finalizers"}).empty()) {
    erase(target.collection, target.key());
    return wanted;
  }
  return store(target.served, std::move(wanted));
}

Result<Json> FakeKube::patch(const ApiRequest& request, const Target& target) {
  const bool is_apply = request.content_type == "application/apply-patch+yaml";
  if (!is_apply && request.content_type != "application/merge-patch+json") {
    return api_error(request.method, request.path, 415, "the fake knows merge patches and apply");
  }
  const auto& all = objects_[target.collection];
  const auto live = all.find(target.key());
  if (live == all.end()) {
    if (!target.subresource.empty())
      return api_error(request.method, request.path, 404, "there is no object to apply a status to");
    return create(request, target);
  }
  Json whole = live->second;
  merge_into(whole, *request.body);
  if (request.path.ends_with("?dryRun=All")) return whole;
  return update(request, target, std::move(whole));
}

Result<Json> FakeKube::remove(const ApiRequest&, const Target& target) {
  Json last = objects_[target.collection].at(target.key());
  if (find_array(last, {"metadata", "finalizers"}).empty()) {
    erase(target.collection, target.key());
    return last;
  }
  if (find(last, {"metadata", "deletionTimestamp"})) return last;
  metadata_of(last)["deletionTimestamp"] = start_of_time;
  return store(target.served, std::move(last));
}

// ---- watches

Result<> FakeKube::stream(const sys::Context& context, const std::string& path,
                          const std::function<Result<>(kube::WatchEvent)>& on_event) {
  using Kind = kube::WatchEvent::Kind;
  ApiRequest request{.method = "WATCH", .path = path};
  std::unique_lock lock(mutex_);
  requests_.push_back("WATCH " + path);
  if (fail_request) {
    lock.unlock();
    if (std::optional<Error> failure = fail_request(request)) return *failure;
    lock.lock();
  }
  request.method = "GET";
  const Target target = TRY(target_of(request));
  long seen = target.query.contains("resourceVersion") ? number_of(target.query.at("resourceVersion")) : version_;
  if (seen < std::max(compacted_, target.served.since)) {
    return api_error("GET", path, 410, fmt::format("too old resource version: {}", seen));
  }
  const bool wants_bookmarks = target.query.contains("allowWatchBookmarks");
  const int generation = watch_generation_;
  int bookmarks = bookmarks_;
  for (;;) {
    std::vector<kube::WatchEvent> news;
    for (const Change& change : changes_) {
      if (change.version <= seen || change.collection != target.collection) continue;
      const bool was = change.before && target.covers(*change.before), is = change.after && target.covers(*change.after);
      if (is) news.push_back({was ? Kind::modified : Kind::added, *change.after});
      if (was && !is) {
        Json last = *change.before;
        metadata_of(last)["resourceVersion"] = std::to_string(change.version);
        news.push_back({Kind::deleted, std::move(last)});
      }
    }
    seen = version_;
    if (std::exchange(bookmarks, bookmarks_) != bookmarks_ && wants_bookmarks) {
      news.push_back({Kind::bookmark,
                      {{"kind", target.served.type.kind},
                       {"apiVersion", target.served.type.api_version()},
                       {"metadata", {{"resourceVersion", std::to_string(version_)}}}}});
    }
    const bool is_over = generation != watch_generation_;
    const std::optional<Error> failure = watch_failure_;
    lock.unlock();
    for (kube::WatchEvent& event : news) TRY(on_event(std::move(event)));
    if (is_over && failure) return *failure;
    if (is_over) return Ok{};
    lock.lock();
    const bool is_news = changed_.wait(
        lock, context.stop, [&] { return version_ != seen || bookmarks != bookmarks_ || generation != watch_generation_; });
    if (!is_news) return error(Code::cancelled, "GET {}: stopped", path);
  }
}

}  // namespace slipway::testing_support
