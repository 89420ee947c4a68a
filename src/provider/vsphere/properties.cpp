#include "provider/vsphere/properties.h"

#include <fmt/core.h>

#include <array>

namespace slipway::provider::vsphere {

namespace {

std::string property_set(const Properties& wanted) {
  std::string made = element("type", wanted.type);
  for (const std::string& path : wanted.paths) made += element("pathSet", path);
  return element_of("propSet", made);
}

struct Step {
  std::string_view name, type, path;
  bool is_recursive = true;
};

// From a folder to everything in it.
constexpr std::array steps = {
    Step{"children", "Folder", "childEntity"},
    Step{"machines", "Datacenter", "vmFolder"},
    Step{"hosts", "Datacenter", "hostFolder"},
};

std::string traversal() {
  std::string made;
  std::string next;
  for (const Step& step : steps) next += element_of("selectSet", element("name", step.name));
  for (const Step& step : steps) {
    made += element_of(
        "selectSet",
        element("name", step.name) + element("type", step.type) + element("path", step.path) + element("skip", "false") + next,
        "TraversalSpec");
  }
  return made;
}

void add_property(Object& object, const Xml& property) {
  object.properties.insert_or_assign(property.text_at({"name"}), property.at({"val"}));
}

}  // namespace

const Xml& Object::at(std::string_view path) const {
  static const Xml none;
  const auto found = properties.find(path);
  return found == properties.end() ? none : found->second;
}

const std::string& Object::text(std::string_view path) const {
  const Xml& found = at(path);
  return found.has("value") ? found.text_at({"value"}) : found.text;
}

std::string filter_below(std::string_view element_name, const Reference& folder, const std::vector<Properties>& wanted) {
  std::string made;
  for (const Properties& each : wanted) made += property_set(each);
  made += element_of("objectSet", element("obj", folder) + element("skip", "false") + traversal());
  return element_of(element_name, made);
}

std::string filter_of(std::string_view element_name, const std::vector<Reference>& objects, const Properties& wanted) {
  std::string made = property_set(wanted);
  for (const Reference& object : objects) made += element_of("objectSet", element("obj", object));
  return element_of(element_name, made);
}

Page page_of(const Xml& result) {
  Page page;
  for (const Xml& child : result.children) {
    if (child.name == "token") page.token = child.text;
    if (child.name != "objects") continue;
    Object object{.self = reference_of(child.at({"obj"}))};
    for (const Xml& property : child.children) {
      if (property.name == "propSet") add_property(object, property);
    }
    page.objects.push_back(std::move(object));
  }
  return page;
}

Updates updates_of(const Xml& result) {
  Updates updates{.version = result.text_at({"version"}), .is_truncated = result.text_at({"truncated"}) == "true"};
  for (const Xml& filter : result.children) {
    for (const Xml& update : filter.children) {
      if (filter.name != "filterSet" || update.name != "objectSet") continue;
      Object object{.self = reference_of(update.at({"obj"}))};
      if (update.text_at({"kind"}) == "leave") {
        updates.removed.push_back(object.self);
        continue;
      }
      for (const Xml& change : update.children) {
        if (change.name == "changeSet") add_property(object, change);
      }
      updates.changed.push_back(std::move(object));
    }
  }
  return updates;
}

}  // namespace slipway::provider::vsphere
