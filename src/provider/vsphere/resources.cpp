#include "provider/vsphere/resources.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::vsphere {

namespace {

constexpr int deepest_path = 100;

using Kind = plan::Kind<Work>;

// In the order of removal: what uses other things first.
constexpr std::array kinds = {
    Kind{rule_kind, list_rules, create_rule, remove_rule},
    Kind{machine_kind, list_machines, create_machine, remove_machine},
    Kind{template_kind, list_templates, create_template, remove_template},
    Kind{folder_kind, list_folders, create_folder, remove_folder},
    Kind{tag_kind, list_tags, create_tag, remove_tag},
};

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

Resources::Resources(Vcenter& vcenter, std::string infra_id, OsImage* image, const std::map<std::string, std::string>* configs)
    // vCenter's answers have what was changed before.
    : KindsPlatform({kinds.begin(), kinds.end()}, Milliseconds(0)),
      vcenter_(vcenter),
      infra_id_(std::move(infra_id)),
      image_(image),
      configs_(configs) {}

Result<> Resources::create(const sys::Context& context, const plan::Resource& resource) {
  if (resource.kind != machine_kind) lookups_.forget();
  return KindsPlatform::create(context, resource);
}

Result<> Resources::remove(const sys::Context& context, const plan::Found& found) {
  if (found.kind != machine_kind) lookups_.forget();
  return KindsPlatform::remove(context, found);
}

plan::Found Resources::found_of(const Item& item, const plan::Resource* planned) const {
  plan::Found found = KindsPlatform::found_of(item, planned);
  // One that other clusters use stays.
  if (!planned && item.kind == template_kind) found.is_ours = is_true(item.facts, {"is_free"});
  return found;
}

Result<std::vector<Item>> Resources::machines(const sys::Context& context) {
  inventory().forget(machine_kind);
  std::vector<Item> found = TRY(inventory().all(context, machine_kind));
  std::erase_if(found, [](const Item& item) { return !item.is_ours; });
  return found;
}

}  // namespace slipway::provider::vsphere
