#include "config/convert_platforms.h"

#include <algorithm>
#include <array>

namespace slipway::config {

namespace {

constexpr std::string_view platform = "platform.vsphere";

bool has_items(const JsonObject& object, std::string_view name) {
  const Json* list = object.if_contains(name);
  return list && list->is_array() && !list->get_array().empty();
}

bool has_any(const JsonObject& section, const auto& names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return !text_of(section, name).empty(); });
}

// "CLUSTER" becomes "/DC/host/CLUSTER". A name that begins with a slash is already a path.
std::string inventory_path(const std::string& name, const std::string& datacenter, std::string_view folder) {
  return name.empty() || name.starts_with('/') ? name : fmt::format("/{}/{}/{}", datacenter, folder, name);
}

struct Moved {
  std::string_view older;
  std::string_view newer;
};

constexpr std::array<Moved, 4> of_vcenter = {
    {{"vCenter", "server"}, {"username", "user"}, {"password", "password"}, {"datacenter", "datacenters[0]"}}};
constexpr std::array<std::string_view, 3> needed_of_vcenter = {"vCenter", "username", "password"};

constexpr std::array<Moved, 6> of_topology = {{{"datacenter", "datacenter"},
                                               {"cluster", "computeCluster"},
                                               {"network", "networks[0]"},
                                               {"defaultDatastore", "datastore"},
                                               {"resourcePool", "resourcePool"},
                                               {"folder", "folder"}}};
constexpr std::array<std::string_view, 6> names_of_topology = {"datacenter",       "cluster",      "network",
                                                               "defaultDatastore", "resourcePool", "folder"};

void remember_moved(Document& document, const JsonObject& section, const auto& moved, std::string_view into) {
  for (const Moved& field : moved) {
    if (!section.contains(field.older)) continue;
    record_conversion(document, fmt::format("{}.{}.{}", platform, into, field.newer),
                      fmt::format("{}.{}", platform, field.older));
  }
}

// The datacenters of the vCenter: that of the flat field, and those of existing failure domains.
JsonArray datacenters_of(const JsonObject& section) {
  JsonArray names;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::ranges::find(names, Json(name)) == names.end()) names.push_back(Json(name));
  };
  add(text_of(section, "datacenter"));
  const Json* domains = section.if_contains("failureDomains");
  for (const Json& domain : domains ? find_array(*domains, {}) : JsonArray()) {
    add(std::string(find_string(domain, {"topology", "datacenter"}).value_or("")));
  }
  return names;
}

void make_vcenter(Document& document, JsonObject& section) {
  if (has_items(section, "vcenters") || !has_any(section, needed_of_vcenter)) return;
  constexpr int port = 443;
  section["vcenters"] = JsonArray{JsonObject{{"server", text_of(section, "vCenter")},
                                             {"user", text_of(section, "username")},
                                             {"password", text_of(section, "password")},
                                             {"port", port},
                                             {"datacenters", datacenters_of(section)}}};
  remember_moved(document, section, of_vcenter, "vcenters[0]");
  if (!has_items(section, "failureDomains")) return;
  for (Json& domain : section["failureDomains"].get_array()) {
    if (!domain.is_object()) continue;
    if (text_of(domain.get_object(), "server").empty()) domain.get_object()["server"] = text_of(section, "vCenter");
  }
  for_each_topology(section, [&](JsonObject& topology) {
    if (text_of(topology, "datacenter").empty()) topology["datacenter"] = text_of(section, "datacenter");
  });
}

std::string server_of(const JsonObject& section) {
  const Json* vcenters = section.if_contains("vcenters");
  return has_items(section, "vcenters") ? std::string(find_string(vcenters->get_array()[0], {"server"}).value_or("")) : "";
}

void make_failure_domain(Document& document, JsonObject& section) {
  if (has_items(section, "failureDomains") || !has_any(section, names_of_topology)) return;
  const std::string datacenter = text_of(section, "datacenter");
  JsonArray networks;
  if (const std::string network = text_of(section, "network"); !network.empty()) networks.push_back(Json(network));
  JsonObject topology = {{"datacenter", datacenter},
                         {"computeCluster", inventory_path(text_of(section, "cluster"), datacenter, "host")},
                         {"networks", std::move(networks)},
                         {"datastore", inventory_path(text_of(section, "defaultDatastore"), datacenter, "datastore")},
                         {"resourcePool", text_of(section, "resourcePool")},
                         {"folder", text_of(section, "folder")}};
  // The names that OpenShift's installer generates.
  section["failureDomains"] = JsonArray{JsonObject{{"name", "generated-failure-domain"},
                                                   {"region", "generated-region"},
                                                   {"zone", "generated-zone"},
                                                   {"server", server_of(section)},
                                                   {"topology", std::move(topology)}}};
  remember_moved(document, section, of_topology, "failureDomains[0].topology");
}

// Adds the path to names in `datastore` and `folder`, the fields in which OpenShift's installer accepts names without a path.
void complete_paths(JsonObject& section) {
  for_each_topology(section, [](JsonObject& fields) {
    const std::string datacenter = text_of(fields, "datacenter");
    if (datacenter.empty()) return;
    for (const auto& [name, folder] :
         {std::pair<std::string_view, std::string_view>{"datastore", "datastore"}, {"folder", "vm"}}) {
      if (const std::string value = text_of(fields, name); !value.empty())
        fields[name] = inventory_path(value, datacenter, folder);
    }
  });
}

}  // namespace

void convert_vsphere(Document& document, JsonObject& section) {
  make_vcenter(document, section);
  make_failure_domain(document, section);
  complete_paths(section);
}

}  // namespace slipway::config
