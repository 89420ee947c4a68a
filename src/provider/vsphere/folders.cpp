// Tags and folders.
#include "provider/vsphere/work.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::vsphere {

namespace {

constexpr std::string_view tagging = "/com/vmware/cis/tagging";
constexpr std::string_view description = "Made by slipway";  // of categories and tags
// What OpenShift's installer attaches its tags to.
constexpr std::array taggable = {"urn:vim25:VirtualMachine", "urn:vim25:ResourcePool", "urn:vim25:Folder", "urn:vim25:Datastore",
                                 "urn:vim25:StoragePod"};

std::string path_of(std::string_view kind, std::string_view id) { return fmt::format("{}/{}/id:{}", tagging, kind, id); }

// The ID of the category, or of the tag in it, with a name; empty if there is none.
Result<std::string> find_by_name(const Work& work, std::string_view kind, const Json& ids, std::string_view name) {
  for (const Json& id : find_array(ids, {"value"})) {
    const Result<Json> found = work.vcenter.rest(work.context, "GET", path_of(kind, text_of(id, {})));
    if (!found.ok() && found.error().code() == Code::not_found) continue;  // was removed meanwhile
    const Json about = TRY(found);
    if (text_of(about, {"value", "name"}) == name) return text_of(id, {});
  }
  return std::string();
}

Result<std::string> create_named(const Work& work, std::string_view kind, JsonObject spec) {
  const std::string name = text_of(spec, {"name"});
  const Result<Json> made = work.vcenter.rest(work.context, "POST", fmt::format("{}/{}", tagging, kind),
                                              JsonObject{{"create_spec", std::move(spec)}}, name);
  if (made.ok()) return require_string(made.value(), {"value"});
  // An earlier call without an answer may have made it: it is found when the resource is looked up again.
  const Code code = made.error().code() == Code::conflict ? Code::unavailable : made.error().code();
  return Error(code, made.error().message());
}

Result<> remove_by_id(const Work& work, std::string_view kind, const std::string& id, std::string_view name) {
  if (id.empty()) return Ok{};
  const Result<Json> removed = work.vcenter.rest(work.context, "DELETE", path_of(kind, id), nullptr, name);
  if (removed.ok() || removed.error().code() == Code::not_found) return Ok{};
  return removed.error();
}

}  // namespace

Result<std::vector<Item>> list_tags(const Work& work) {
  const Json categories = TRY(work.vcenter.rest(work.context, "GET", fmt::format("{}/category", tagging)));
  const std::string category = TRY(find_by_name(work, "category", categories, category_name(work.infra_id)));
  if (category.empty()) return std::vector<Item>();
  const Json tags = TRY(work.vcenter.rest(
      work.context, "POST", fmt::format("{}?~action=list-tags-for-category", path_of("tag", category)), JsonObject()));
  const std::string tag = TRY(find_by_name(work, "tag", tags, work.infra_id));
  return std::vector<Item>{
      {.kind = std::string(tag_kind), .name = work.infra_id, .id = category, .is_whole = !tag.empty(), .facts = {{"tag", tag}}}};
}

// OpenShift's installer makes categories with the same names.
Result<std::vector<std::string>> list_tagged_clusters(const sys::Context& context, Vcenter& vcenter) {
  const std::string prefix = category_name("");
  const Json categories = TRY(vcenter.rest(context, "GET", fmt::format("{}/category", tagging)));
  std::vector<std::string> clusters;
  for (const Json& id : find_array(categories, {"value"})) {
    const Result<Json> found = vcenter.rest(context, "GET", path_of("category", text_of(id, {})));
    if (!found.ok() && found.error().code() == Code::not_found) continue;  // was removed meanwhile
    const Json about = TRY(found);
    const std::string name = text_of(about, {"value", "name"});
    if (name.starts_with(prefix) && text_of(about, {"value", "description"}) == description) {
      clusters.push_back(name.substr(prefix.size()));
    }
  }
  return clusters;
}

Result<Item> create_tag(const Work& work, const plan::Resource& resource) {
  JsonArray types;
  for (const char* type : taggable) types.push_back(Json(type));
  const std::string category = TRY(create_named(work, "category",
                                                {{"name", text(resource, "category")},
                                                 {"description", description},
                                                 {"cardinality", "SINGLE"},
                                                 {"associable_types", std::move(types)}}));
  const std::string tag =
      TRY(create_named(work, "tag", {{"name", resource.name}, {"description", description}, {"category_id", category}}));
  Item item = item_of(resource, category);
  item.facts = {{"tag", tag}};
  return item;
}

Result<> remove_tag(const Work& work, const Item& item) {
  TRY(remove_by_id(work, "tag", item.fact("tag"), item.name));
  return remove_by_id(work, "category", item.id, category_name(item.name));
}

Result<> attach_tags(const Work& work, const Reference& object, std::vector<std::string> tag_ids, std::string_view name) {
  const std::optional<Item> own = TRY(work.inventory.known(work.context, tag_kind, work.infra_id));
  if (!own) return error(Code::not_found, "tag {}: does not exist", work.infra_id);
  tag_ids.insert(tag_ids.begin(), own->fact("tag"));
  const Json answer = TRY(work.vcenter.rest(
      work.context, "POST", fmt::format("{}/tag-association?~action=attach-multiple-tags-to-object", tagging),
      JsonObject{{"object_id", {{"id", object.id}, {"type", object.type}}}, {"tag_ids", array_of(tag_ids)}}, name));
  if (const Json* succeeded = find(answer, {"value", "success"}); succeeded && *succeeded == Json(false)) {
    return error(Code::invalid, "{}: vCenter does not attach all tags (check tagIDs of the failure domain)", name);
  }
  return Ok{};
}

Result<std::vector<Item>> list_folders(const Work& work) {
  Paths paths;
  std::vector<Properties> wanted = Paths::wanted();
  wanted.front().paths.push_back("childEntity");
  const std::vector<Object> objects = TRY(work.vcenter.all(work.context, wanted));
  for (const Object& object : objects) paths.add(object);
  std::vector<Item> items;
  for (const Object& object : objects) {
    if (object.self.type != "Folder" || object.text("name") != work.infra_id) continue;
    const std::string parent = paths.parent_of(object);
    // "/DC/vm": other folders with this name are not made by slipway.
    if (base_name(parent) != "vm") continue;
    items.push_back({.kind = std::string(folder_kind),
                     .name = fmt::format("{}/{}", parent, work.infra_id),
                     .id = object.self.id,
                     .is_whole = !object.at("childEntity").children.empty()});
  }
  return items;
}

Result<Item> create_folder(const Work& work, const plan::Resource& resource) {
  const Reference parent = TRY(object_at(work, parent_path(resource.name)));
  const Xml made = TRY(work.vcenter.send(work.context, {.method = "CreateFolder",
                                                        .self = parent,
                                                        .arguments = element("name", base_name(resource.name)),
                                                        .object = resource.name,
                                                        .changes = true}));
  const Reference folder = reference_of(made.at({"returnval"}));
  TRY(attach_tags(work, folder, {}, resource.name));
  return item_of(resource, folder.id);
}

// vCenter removes a folder with everything in it, so it must be empty.
Result<> remove_folder(const Work& work, const Item& item) {
  const Reference folder{"Folder", item.id};
  const Result<Object> found = work.vcenter.read(work.context, folder, {"childEntity"});
  if (!found.ok() && found.error().code() == Code::not_found) return Ok{};
  const Object about = TRY(found);
  if (const std::size_t count = about.at("childEntity").children.size(); count > 0) {
    return error(Code::conflict, "has {} objects that are not of this cluster or not removed yet (move or remove them)", count);
  }
  const Result<Xml> removed =
      work.vcenter.run(work.context, {.method = "Destroy_Task", .self = folder, .object = item.name, .changes = true});
  if (removed.ok() || removed.error().code() == Code::not_found) return Ok{};
  return removed.error();
}

}  // namespace slipway::provider::vsphere
