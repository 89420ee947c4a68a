// Images of the machine OS in Glance, which the clusters of a project share. Each cluster that uses an image has a tag on it. The
// cluster that imports one is in a property from the beginning, and tags it when its content is proved.
#include "provider/openstack/work.h"

#include "sys/fd.h"
#include "sys/wait_for.h"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::openstack {

namespace {

constexpr Milliseconds image_limit(1'800'000);
constexpr sys::Pace image_pace{.first = Milliseconds(500), .longest = Milliseconds(10'000)};
constexpr std::string_view qcow2_magic = "QFI\xfb";
constexpr std::string_view active = "active";
constexpr std::string_view importer_property = "slipway_cluster";

bool is_used(const Json& image) {
  const std::string prefix = cluster_tag("");
  return std::ranges::any_of(find_array(image, {"tags"}),
                             [&](const Json& tag) { return find_string(tag, {}).value_or("").starts_with(prefix); });
}

bool is_used_by_others(const Json& image, std::string_view infra_id) {
  const std::string prefix = cluster_tag(""), own = cluster_tag(infra_id);
  return std::ranges::any_of(find_array(image, {"tags"}), [&](const Json& tag) {
    const std::string_view text = find_string(tag, {}).value_or("");
    return text.starts_with(prefix) && text != own;
  });
}

// All images of slipway in the project. Those that others use or import are not ours.
Result<std::vector<Item>> list_images(const Work& work) {
  std::vector<Item> items;
  Call call{.service = Service::glance, .action = "ListImages"};
  call.target = fmt::format("/images?tag={}&visibility=private", own_tag);
  const std::string tag = cluster_tag(work.project.infra_id);
  for (const Json& found : TRY(work.list(std::move(call), "images"))) {
    const std::string name = text_of(found, {"name"});
    if (!name.starts_with(os_image_name("")) || !has_tag(found, own_tag)) continue;
    const bool is_own = has_tag(found, tag);
    const std::string importer = text_of(found, {importer_property});
    items.push_back({.kind = std::string(image_kind),
                     .name = name,
                     .id = text_of(found, {"id"}),
                     .is_ours = is_own || (!is_used(found) && (importer.empty() || importer == work.project.infra_id)),
                     .is_whole = is_own && text_of(found, {"status"}) == active,
                     .facts = {{"importer", importer}, {"is_used", is_used(found)}}});
  }
  // Two clusters may have imported it at the same time. The inventory keeps the last one of a name.
  std::ranges::stable_sort(items, {}, [](const Item& item) { return std::pair(item.is_ours, item.is_whole); });
  return items;
}

Result<std::string> disk_format(const std::string& path) {
  const sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4> begin{};
  if (!file.is_open() || ::read(file.get(), begin.data(), begin.size()) < 0) return sys::system_error("reading " + path);
  return std::string(std::string_view(begin.data(), begin.size()) == qcow2_magic ? "qcow2" : "raw");
}

Result<Json> get_image(const Work& work, const std::string& id, const std::string& name) {
  const Reply reply =
      TRY(work.send({.service = Service::glance, .action = "GetImage", .object = name, .target = "/images/" + id}));
  return reply.json;
}

Result<> add_tag(const Work& work, const std::string& id, const std::string& name) {
  TRY(work.send({.service = Service::glance,
                 .action = "AddTag",
                 .object = name,
                 .effect = Effect::once,
                 .method = "PUT",
                 .target = fmt::format("/images/{}/tags/{}", id, net::percent_encode(cluster_tag(work.project.infra_id)))}));
  return Ok{};
}

Result<> delete_image(const Work& work, const std::string& id, const std::string& name) {
  TRY(work.send({.service = Service::glance,
                 .action = "DeleteImage",
                 .object = name,
                 .effect = Effect::once,
                 .method = "DELETE",
                 .target = "/images/" + id,
                 .expected = {Failure::not_found}}));
  return Ok{};
}

Result<> wait_until_active(const Work& work, const std::string& id, const std::string& name) {
  return sys::wait_for(
      work.context, fmt::format("image {}", name), image_limit,
      [&]() -> Result<sys::Observation> {
        const std::string status = text_of(TRY(get_image(work, id, name)), {"status"});
        if (status == active) return sys::Observation::done();
        if (status == "killed" || status == "deleted" || status == "deactivated") {
          return error(Code::invalid, "image {}: is {}", name, status);
        }
        return sys::Observation::not_yet("is {}", status);
      },
      nullptr, image_pace);
}

// Glance tells the digest of what it has stored.
Result<> check_content(const Work& work, const std::string& id, const std::string& name, const std::string& path) {
  const Json about = TRY(get_image(work, id, name));
  if (text_of(about, {"os_hash_algo"}) != "sha512") return Ok{};  // another one, by the configuration of Glance
  const std::string wanted = TRY(work.project.sha512(work.context, path)), stored = text_of(about, {"os_hash_value"});
  if (wanted == stored) return Ok{};
  TRY(delete_image(work, id, name));
  return error(Code::invalid,
               "image {}: Glance has stored other content than was sent (SHA-512 {}, not {}; run the command again)", name,
               stored, wanted);
}

Result<Item> import_image(const Work& work, const plan::Resource& resource) {
  const std::string path = TRY(work.project.os_image->file(work.context));
  JsonObject body = {{"name", resource.name}, {"container_format", "bare"}, {"visibility", "private"}};
  body["disk_format"] = TRY(disk_format(path));
  body["tags"] = JsonArray{Json(own_tag)};
  body[importer_property] = work.project.infra_id;
  for (const auto& property : find_object(resource.spec, {"properties"})) body[property.key()] = text_of(property.value(), {});
  const Reply made = TRY(work.send({.service = Service::glance,
                                    .action = "CreateImage",
                                    .object = resource.name,
                                    .effect = Effect::twice,
                                    .method = "POST",
                                    .target = "/images",
                                    .body = std::move(body)}));
  const std::string id = text_of(made.json, {"id"});
  if (id.empty()) return error(Code::internal, "Glance CreateImage {}: the answer has no ID", resource.name);
  TRY(work.send({.service = Service::glance,
                 .action = "UploadImage",
                 .object = resource.name,
                 .effect = Effect::twice,
                 .method = "PUT",
                 .target = fmt::format("/images/{}/file", id),
                 .content_file = path,
                 .content_type = "application/octet-stream"}));
  TRY(wait_until_active(work, id, resource.name));
  TRY(check_content(work, id, resource.name, path));
  TRY(add_tag(work, id, resource.name));
  return item_of(resource, id);
}

// An image that another cluster has imported is used, too.
Result<Item> create_image(const Work& work, const plan::Resource& resource) {
  work.project.inventory.forget(image_kind);
  const std::optional<Item> image = TRY(work.project.inventory.known(work.context, image_kind, resource.name));
  if (!image) return import_image(work, resource);
  if (!is_true(image->facts, {"is_used"})) {
    return error(Code::unavailable, "image {}: cluster {} is importing it (wait for it, or destroy that cluster)", resource.name,
                 image->fact("importer"));
  }
  TRY(add_tag(work, image->id, resource.name));
  return item_of(resource, image->id);
}

// The image stays while other clusters use it.
Result<> remove_image(const Work& work, const Item& item) {
  const Reply reply = TRY(work.send({.service = Service::glance,
                                     .action = "GetImage",
                                     .object = item.name,
                                     .target = "/images/" + item.id,
                                     .expected = {Failure::not_found}}));
  if (reply.failure) return Ok{};
  const std::string own = cluster_tag(work.project.infra_id), importer = text_of(reply.json, {importer_property});
  const bool is_being_imported = !is_used(reply.json) && !importer.empty() && importer != work.project.infra_id;
  if (is_being_imported) return Ok{};
  if (!is_used_by_others(reply.json, work.project.infra_id)) return delete_image(work, item.id, item.name);
  if (!has_tag(reply.json, own)) return Ok{};
  TRY(work.send({.service = Service::glance,
                 .action = "RemoveTag",
                 .object = item.name,
                 .effect = Effect::once,
                 .method = "DELETE",
                 .target = fmt::format("/images/{}/tags/{}", item.id, net::percent_encode(own)),
                 .expected = {Failure::not_found}}));
  return Ok{};
}

}  // namespace

std::span<const Kind> image_kinds() {
  static constexpr std::array kinds = {Kind{image_kind, list_images, create_image, remove_image}};
  return kinds;
}

}  // namespace slipway::provider::openstack
