#include "provider/vsphere/resources.h"

#include "base/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::vsphere {

namespace {

using plan::Found;
using plan::Resource;

constexpr int deepest_path = 100;

struct Kind {
  std::string_view name;
  Result<std::vector<Item>> (*list)(const Work& work);
  Result<Item> (*create)(const Work& work, const Resource& resource);
  Result<> (*remove)(const Work& work, const Item& item);
};

// In the order of removal: what uses other things first.
constexpr std::array kinds = {
    Kind{rule_kind, list_rules, create_rule, remove_rule},
    Kind{machine_kind, list_machines, create_machine, remove_machine},
    Kind{template_kind, list_templates, create_template, remove_template},
    Kind{folder_kind, list_folders, create_folder, remove_folder},
    Kind{tag_kind, list_tags, create_tag, remove_tag},
};

const Kind& kind_of(std::string_view name) {
  const auto found = std::ranges::find(kinds, name, &Kind::name);
  CHECK(found != kinds.end());
  return *found;
}

std::vector<std::string_view> names_of_kinds() {
  std::vector<std::string_view> names;
  for (const Kind& kind : kinds) names.push_back(kind.name);
  return names;
}

Found found_of(const Item& item) {
  return {.kind = item.kind, .name = item.name, .machine = item.machine, .is_ours = item.is_ours, .is_whole = item.is_whole};
}

}  // namespace

void Lookups::forget() {
  std::lock_guard lock(mutex_);
  known_ = {};
}

Result<Reference> object_at(const Work& work, const std::string& path) {
  return work.lookups.get<Reference>(path, [&]() -> Result<Reference> {
    std::optional<Reference> found = TRY(work.vcenter.find(work.context, path));
    if (found) return *std::move(found);
    return error(Code::not_found, "{}: vCenter has nothing at this path, or the user may not see it", path);
  });
}

std::vector<Properties> Paths::wanted() { return {{"Folder", {"name", "parent"}}, {"Datacenter", {"name", "parent"}}}; }

void Paths::add(const Object& object) { entries_[object.self] = {object.text("name"), reference_of(object.at("parent"))}; }

std::string Paths::of(const Reference& object) const {
  std::string path;
  Reference next = object;
  for (int depth = 0; depth < deepest_path; ++depth) {
    const auto found = entries_.find(next);
    // The root folder has no parent and is not part of paths.
    if (found == entries_.end() || found->second.parent.id.empty()) break;
    path = fmt::format("/{}{}", found->second.name, path);
    next = found->second.parent;
  }
  return path;
}

Item item_of(const Resource& resource, std::string id) {
  return {.kind = resource.kind, .name = resource.name, .machine = resource.machine, .id = std::move(id)};
}

std::string text(const Resource& resource, std::string_view name) { return text_of(resource.spec, {name}); }

Resources::Resources(Vcenter& vcenter, std::string infra_id, OsImage* image, const std::map<std::string, std::string>* configs)
    : vcenter_(vcenter),
      infra_id_(std::move(infra_id)),
      image_(image),
      configs_(configs),
      // vCenter's answers have what was changed before.
      inventory_(names_of_kinds(), Milliseconds(0),
                 [this](const sys::Context& context, const std::string& kind) { return kind_of(kind).list(work(context)); }) {}

Result<std::optional<Found>> Resources::find(const sys::Context& context, const Resource& resource) {
  const std::optional<Item> item = TRY(inventory_.look_up(context, resource.kind, resource.name));
  if (!item) return std::optional<Found>();
  Found found = found_of(*item);
  found.machine = resource.machine;
  return std::optional(std::move(found));
}

Result<> Resources::create(const sys::Context& context, const Resource& resource) {
  if (resource.kind != machine_kind) lookups_.forget();
  return inventory_.created(context, resource.kind, kind_of(resource.kind).create(work(context), resource));
}

Result<> Resources::remove(const sys::Context& context, const Found& found) {
  const std::optional<Item> item = TRY(inventory_.known(context, found.kind, found.name));
  if (!item) return Ok{};
  if (found.kind != machine_kind) lookups_.forget();
  return inventory_.removed(*item, kind_of(found.kind).remove(work(context), *item));
}

Result<std::vector<Found>> Resources::scan(const sys::Context& context) {
  inventory_.forget_all();
  std::vector<Found> all;
  for (const Kind& kind : kinds) {
    for (const Item& item : TRY(inventory_.all(context, kind.name))) {
      all.push_back(found_of(item));
      // One that other clusters use stays.
      if (kind.name == template_kind) all.back().is_ours = is_true(item.facts, {"is_free"});
    }
  }
  return all;
}

Result<std::vector<Item>> Resources::machines(const sys::Context& context) {
  inventory_.forget(machine_kind);
  std::vector<Item> found = TRY(inventory_.all(context, machine_kind));
  std::erase_if(found, [](const Item& item) { return !item.is_ours; });
  return found;
}

}  // namespace slipway::provider::vsphere
