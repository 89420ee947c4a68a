#include "provider/openstack/work.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::openstack {

namespace {

constexpr std::size_t longest_value = 255;

// Metadata of a machine, besides the mark, and what a specification calls it.
constexpr std::array long_members = {std::pair{"slipway.role", "role"}, std::pair{"slipway.release", "release"},
                                     std::pair{"slipway.version", "version"}};

}  // namespace

Result<std::vector<Flavor>> Flavors::all(const sys::Context& context, Api& api) {
  std::lock_guard lock(mutex_);
  if (!known_) {
    std::vector<Flavor> found;
    for (const Json& each :
         TRY(api.list(context, {.service = Service::nova, .action = "ListFlavors", .target = "/flavors/detail"}, "flavors"))) {
      found.push_back({.id = text_of(each, {"id"}),
                       .name = text_of(each, {"name"}),
                       .vcpus = integer_of(each, {"vcpus"}),
                       .ram_mib = integer_of(each, {"ram"}),
                       .disk_gib = integer_of(each, {"disk"})});
    }
    known_ = std::move(found);
  }
  return *known_;
}

Result<Flavor> Flavors::get(const sys::Context& context, Api& api, const std::string& name) {
  const std::vector<Flavor> known = TRY(all(context, api));
  const auto found = std::ranges::find_if(known, [&](const Flavor& flavor) { return flavor.name == name || flavor.id == name; });
  if (found != known.end()) return *found;
  return error(Code::not_found, "flavor {}: does not exist, or the project may not use it", name);
}

Result<std::vector<Item>> list_neutron(const Work& work, const NeutronNames& names,
                                       std::initializer_list<std::string_view> fields, ReadNeutron read) {
  const std::string& infra_id = work.project.infra_id;
  const std::string project_id = TRY(work.project.api.token(work.context))->project_id;
  Call call{.service = Service::neutron, .action = fmt::format("List{}s", names.title)};
  // Administrators get the objects of all projects.
  call.target = fmt::format("/{}?project_id={}", names.path, net::percent_encode(project_id));
  for (const std::string_view field : {"id", "name", "description", "tags"}) call.target += fmt::format("&fields={}", field);
  for (const std::string_view field : fields) call.target += fmt::format("&fields={}", field);
  const std::string tag = cluster_tag(infra_id), prefix = infra_id + "-";
  std::vector<Item> items;
  for (const Json& found : TRY(work.list(std::move(call), names.members()))) {
    const std::optional<Mark> mark = read_mark(text_of(found, {"description"}));
    const bool is_tagged = has_tag(found, tag);
    Item item{.kind = std::string(names.kind), .name = text_of(found, {"name"}), .id = text_of(found, {"id"})};
    item.is_ours = is_tagged || (mark && mark->infra_id == infra_id);
    item.is_whole = is_tagged;
    if (read) read(item, found, mark && mark->infra_id == infra_id ? *mark : Mark());
    if (item.is_ours || item.name.starts_with(prefix)) items.push_back(std::move(item));
  }
  // The inventory keeps the last one of a name.
  std::ranges::stable_sort(items, {}, &Item::is_ours);
  return items;
}

Result<Item> create_neutron(const Work& work, const NeutronNames& names, const plan::Resource& resource, JsonObject body,
                            const std::function<Result<>(const std::string& id)>& finish) {
  body["description"] = mark_of(work.project.infra_id, text(resource, "description"));
  const Reply reply = TRY(work.send({.service = Service::neutron,
                                     .action = fmt::format("Create{}", names.title),
                                     .object = resource.name,
                                     .effect = Effect::twice,
                                     .method = "POST",
                                     .target = fmt::format("/{}", names.path),
                                     .body = JsonObject{{names.member, std::move(body)}}}));
  const std::string id = text_of(reply.json, {names.member, "id"});
  if (id.empty()) return error(Code::internal, "Neutron Create{} {}: the answer has no ID", names.title, resource.name);
  if (finish) TRY(finish(id));
  TRY(work.send({.service = Service::neutron,
                 .action = "SetTags",
                 .object = resource.name,
                 .effect = Effect::once,
                 .method = "PUT",
                 .target = fmt::format("/{}/{}/tags", names.path, id),
                 .body = JsonObject{{"tags", tags_of(work.project)}}}));
  return item_of(resource, id);
}

Result<> remove_neutron(const Work& work, const NeutronNames& names, const Item& item) {
  TRY(work.send({.service = Service::neutron,
                 .action = fmt::format("Delete{}", names.title),
                 .object = item.name,
                 .effect = Effect::once,
                 .method = "DELETE",
                 .target = fmt::format("/{}/{}", names.path, item.id),
                 .expected = {Failure::not_found}}));
  return Ok{};
}

bool has_tag(const Json& object, std::string_view tag) {
  return std::ranges::any_of(find_array(object, {"tags"}), [&](const Json& each) { return find_string(each, {}) == tag; });
}

JsonArray tags_of(const Project& project) {
  JsonArray tags = {Json(cluster_tag(project.infra_id)), Json(own_tag)};
  if (!project.expires.empty()) tags.emplace_back(fmt::format("{}{}", expires_tag, project.expires));
  return tags;
}

JsonObject metadata_of(const Project& project, const std::string& machine, const plan::Resource& resource) {
  JsonObject made = {{cluster_key, project.infra_id}, {machine_key, machine}};
  if (!project.expires.empty()) made[expires_key] = project.expires;
  for (const auto& [key, member] : long_members) {
    std::string value = text(resource, member);
    std::string part_key = key;
    for (int part = 1; !value.empty(); ++part) {
      made[part_key] = value.substr(0, longest_value);
      value.erase(0, longest_value);
      part_key = fmt::format("{}.{}", key, part);
    }
  }
  return made;
}

std::string long_metadata(const Json& metadata, std::string_view key) {
  std::string value = text_of(metadata, {key});
  for (int part = 1;; ++part) {
    const std::string more = text_of(metadata, {fmt::format("{}.{}", key, part)});
    if (more.empty()) return value;
    value += more;
  }
}

}  // namespace slipway::provider::openstack
