// Ignition configs that are larger than user data may be: objects of Swift that machines fetch by a temporary URL, or images of
// Glance where Swift gives no such URLs.
#include "provider/openstack/work.h"

#include "net/hmac.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::openstack {

namespace {

constexpr Seconds pointer_lifetime(3600);
// Of the container only: the key of the account may be somebody's.
constexpr const char* key_header = "X-Container-Meta-Temp-URL-Key";
constexpr const char* mark_header = "X-Container-Meta-Slipway-Cluster";
constexpr std::string_view content_type = "application/vnd.coreos.ignition+json";

std::string machine_of(const plan::Resource& resource) { return text(resource, "machine"); }

Result<bool> has_swift(const Work& work) { return work.project.api.has_service(work.context, Service::swift); }

Call swift(std::string_view action, const std::string& name, std::string method, Effect effect = Effect::none) {
  return {.service = Service::swift,
          .action = std::string(action),
          .object = name,
          .effect = effect,
          .method = std::move(method),
          .target = "/" + name};
}

// ---- containers

Result<std::vector<Item>> list_containers(const Work& work) {
  std::vector<Item> items;
  if (!TRY(has_swift(work))) return items;
  const std::string name = container_name(work.project.infra_id);
  Call call = swift("HeadContainer", name, "HEAD");
  call.expected = {Failure::not_found};
  const Reply reply = TRY(work.send(call));
  if (reply.failure) return items;
  items.push_back({.kind = std::string(container_kind),
                   .name = name,
                   .machine = "bootstrap",
                   .id = name,
                   .is_ours = reply.header(mark_header) == work.project.infra_id,
                   .is_whole = !reply.header(key_header).empty()});
  return items;
}

Result<Item> create_container(const Work& work, const plan::Resource& resource) {
  Call call = swift("CreateContainer", resource.name, "PUT", Effect::once);
  const std::string key = TRY(work.project.new_key());
  call.headers = {{mark_header, work.project.infra_id}, {key_header, key}};
  TRY(work.send(call));
  return item_of(resource, resource.name);
}

Result<> remove_container(const Work& work, const Item& item) {
  Call call = swift("DeleteContainer", item.name, "DELETE", Effect::once);
  call.expected = {Failure::not_found};
  TRY(work.send(call));
  return Ok{};
}

// ---- objects

Result<std::vector<Item>> list_objects(const Work& work) {
  std::vector<Item> items;
  for (const Item& container : TRY(work.all(container_kind))) {
    if (!container.is_ours) continue;
    Call call = swift("ListObjects", container.name, "GET");
    call.target += "?format=json";
    call.expected = {Failure::not_found};
    const Reply reply = TRY(work.send(call));
    for (const Json& found : find_array(reply.json, {})) {
      const std::string name = fmt::format("{}/{}", container.name, text_of(found, {"name"}));
      items.push_back({.kind = std::string(object_kind), .name = name, .machine = "bootstrap", .id = name});
    }
  }
  return items;
}

Result<Item> create_object(const Work& work, const plan::Resource& resource) {
  Call call = swift("CreateObject", resource.name, "PUT", Effect::once);
  call.content = TRY(work.project.config(machine_of(resource), std::nullopt));
  call.content_type = content_type;
  TRY(work.send(call));
  return item_of(resource, resource.name);
}

Result<> remove_object(const Work& work, const Item& item) {
  Call call = swift("DeleteObject", item.name, "DELETE", Effect::once);
  call.expected = {Failure::not_found};
  TRY(work.send(call));
  return Ok{};
}

// https://docs.openstack.org/swift/latest/api/temporary_url_middleware.html
Result<Pointer> temporary_url(const Work& work, const std::string& object) {
  const std::string container = object.substr(0, object.find('/'));
  const Reply about = TRY(work.send(swift("HeadContainer", container, "HEAD")));
  const std::string key = about.header(key_header);
  if (key.empty()) return error(Code::internal, "container {}: has no key for temporary URLs", container);
  const std::string endpoint = TRY(work.project.api.endpoint(work.context, Service::swift));
  const std::string url = fmt::format("{}/{}", endpoint, object);
  const net::Url parsed = TRY(net::parse_url(url));
  const auto end = std::chrono::floor<Seconds>(work.context.clock.now() + pointer_lifetime).time_since_epoch().count();
  std::string signature;
  for (const char c : net::hmac_sha256(key, fmt::format("GET\n{}\n{}", end, parsed.target))) {
    signature += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return Pointer{.url = fmt::format("{}?temp_url_sig={}&temp_url_expires={}", url, signature, end)};
}

// ---- images with configs

Result<std::vector<Item>> list_config_images(const Work& work) {
  std::vector<Item> items;
  Call call{.service = Service::glance, .action = "ListImages"};
  call.target = fmt::format("/images?tag={}&visibility=private", net::percent_encode(cluster_tag(work.project.infra_id)));
  const std::string prefix = work.project.infra_id + "-";
  for (const Json& found : TRY(work.list(std::move(call), "images"))) {
    const std::string name = text_of(found, {"name"});
    if (!name.starts_with(prefix) || !name.ends_with(".ign")) continue;
    if (!has_tag(found, own_tag) || !has_tag(found, cluster_tag(work.project.infra_id))) continue;
    items.push_back({.kind = std::string(config_image_kind),
                     .name = name,
                     .machine = "bootstrap",
                     .id = text_of(found, {"id"}),
                     .is_whole = text_of(found, {"status"}) == "active"});
  }
  return items;
}

Result<Item> create_config_image(const Work& work, const plan::Resource& resource) {
  const std::string config = TRY(work.project.config(machine_of(resource), std::nullopt));
  const Reply made =
      TRY(work.send({.service = Service::glance,
                     .action = "CreateImage",
                     .object = resource.name,
                     .effect = Effect::twice,
                     .method = "POST",
                     .target = "/images",
                     .body = JsonObject{{"name", resource.name},
                                        {"disk_format", "raw"},
                                        {"container_format", "bare"},
                                        {"visibility", "private"},
                                        {"tags", JsonArray{Json(own_tag), Json(cluster_tag(work.project.infra_id))}}}}));
  const std::string id = text_of(made.json, {"id"});
  if (id.empty()) return error(Code::internal, "Glance CreateImage {}: the answer has no ID", resource.name);
  TRY(work.send({.service = Service::glance,
                 .action = "UploadImage",
                 .object = resource.name,
                 .effect = Effect::twice,
                 .method = "PUT",
                 .target = fmt::format("/images/{}/file", id),
                 .content = config,
                 .content_type = "application/octet-stream"}));
  return item_of(resource, id);
}

Result<> remove_config_image(const Work& work, const Item& item) {
  TRY(work.send({.service = Service::glance,
                 .action = "DeleteImage",
                 .object = item.name,
                 .effect = Effect::once,
                 .method = "DELETE",
                 .target = "/images/" + item.id,
                 .expected = {Failure::not_found}}));
  return Ok{};
}

}  // namespace

Result<Pointer> pointer_to(const Work& work, const std::string& key) {
  if (key.starts_with(fmt::format("{}/", object_kind))) return temporary_url(work, key.substr(key.find('/') + 1));
  const std::string id = TRY(work.id_of(key));
  const std::string endpoint = TRY(work.project.api.endpoint(work.context, Service::glance));
  const std::shared_ptr<const Token> token = TRY(work.project.api.token(work.context));
  return Pointer{.url = fmt::format("{}/images/{}/file", endpoint, id), .headers = {{"X-Auth-Token", token->value.reveal()}}};
}

Result<bool> has_temp_urls(const sys::Context& context, Api& api) {
  if (!TRY(api.has_service(context, Service::swift))) return false;
  net::Url url = TRY(net::parse_url(TRY(api.endpoint(context, Service::swift))));
  url.target = "";
  Call call{.service = Service::swift, .action = "GetInfo", .target = "/info", .base = net::to_string(url)};
  call.expected = {Failure::not_found, Failure::denied, Failure::invalid};
  const Reply reply = TRY(api.send(context, call));
  const std::vector<std::string> digests = texts_of(reply.json, {"tempurl", "allowed_digests"});
  return std::ranges::find(digests, "sha256") != digests.end();
}

std::span<const Kind> config_kinds() {
  static constexpr std::array kinds = {
      Kind{object_kind, list_objects, create_object, remove_object},
      Kind{container_kind, list_containers, create_container, remove_container},
      Kind{config_image_kind, list_config_images, create_config_image, remove_config_image},
  };
  return kinds;
}

}  // namespace slipway::provider::openstack
