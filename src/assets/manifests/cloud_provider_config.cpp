#include "assets/manifests/cloud_provider_config.h"

#include "assets/machines/vsphere_topology.h"
#include "assets/manifests/manifest_file.h"
#include "assets/platform.h"
#include "base/text.h"
#include "base/yaml.h"

namespace slipway::assets {

namespace {

using config::InstallConfig;

constexpr std::string_view region_category = "openshift-region";
constexpr std::string_view zone_category = "openshift-zone";
constexpr int default_port = 443;

struct Section {
  std::string name;
  std::vector<std::pair<std::string_view, std::string>> values;  // empty ones are left out
};

std::string ini_text(const std::vector<Section>& sections) {
  std::vector<std::string> texts;
  for (const Section& section : sections) {
    std::string text = fmt::format("[{}]\n", section.name);
    for (const auto& [key, value] : section.values) {
      if (!value.empty()) text += fmt::format("{} = \"{}\"\n", key, value);
    }
    texts.push_back(std::move(text));
  }
  return join(texts, "\n");
}

std::int64_t port_of(const Json& vcenter) {
  const Json* port = find(vcenter, {"port"});
  return port && port->is_int64() ? port->get_int64() : 0;
}

// Names of tag categories only tell domains apart when there are several.
bool has_labels(const std::vector<FailureDomain>& domains) { return domains.size() > 1; }

std::string vsphere_ini(const InstallConfig& config, const ClusterId& id) {
  const std::vector<FailureDomain> domains = failure_domains(config);
  std::vector<Section> sections = {
      {"Global", {{"secret-name", "vsphere-creds"}, {"secret-namespace", "kube-system"}, {"insecure-flag", "1"}}}};
  for (const Json& vcenter : find_array(config.platform.section, {"vcenters"})) {
    const std::int64_t port = port_of(vcenter);
    sections.push_back({fmt::format("VirtualCenter \"{}\"", text_at(vcenter, {"server"})),
                        {{"port", port == 0 ? "" : std::to_string(port)},
                         {"datacenters", join(texts_of(find_array(vcenter, {"datacenters"})), ",")}}});
  }
  if (!domains.empty()) {
    const FailureDomain& first = domains.front();
    sections.push_back({"Workspace",
                        {{"server", first.server},
                         {"datacenter", first.datacenter},
                         {"default-datastore", first.datastore},
                         {"folder", machine_folder(first, id)},
                         {"resourcepool-path", first.resource_pool}}});
  }
  if (has_labels(domains)) {
    sections.push_back({"Labels", {{"region", std::string(region_category)}, {"zone", std::string(zone_category)}}});
  }
  return ini_text(sections);
}

// The newer form, which can name several vCenters. The order of keys is its reader's.
std::string vsphere_yaml(const InstallConfig& config) {
  JsonObject vcenters;
  for (const Json& each : find_array(config.platform.section, {"vcenters"})) {
    const std::int64_t port = port_of(each);
    vcenters[text_at(each, {"server"})] = {{"user", ""},
                                           {"password", ""},
                                           {"tenantref", ""},
                                           {"server", text_at(each, {"server"})},
                                           {"port", port == 0 ? default_port : port},
                                           {"insecureFlag", true},
                                           {"datacenters", find_array(each, {"datacenters"})},
                                           {"soapRoundtripCount", 0},
                                           {"caFile", ""},
                                           {"thumbprint", ""},
                                           {"secretref", ""},
                                           {"secretName", ""},
                                           {"secretNamespace", ""},
                                           {"ipFamily", JsonArray()}};
  }
  const bool labels = has_labels(failure_domains(config));
  return emit_yaml({{"global",
                     {{"user", ""},
                      {"password", ""},
                      {"server", ""},
                      {"port", 0},
                      {"insecureFlag", true},
                      {"datacenters", JsonArray()},
                      {"soapRoundtripCount", 0},
                      {"caFile", ""},
                      {"thumbprint", ""},
                      {"secretName", "vsphere-creds"},
                      {"secretNamespace", "kube-system"},
                      {"secretsDirectory", ""},
                      {"apiDisable", false},
                      {"apiBinding", ""},
                      {"ipFamily", JsonArray()}}},
                    {"vcenter", std::move(vcenters)},
                    {"labels", {{"zone", labels ? zone_category : ""}, {"region", labels ? region_category : ""}}}});
}

}  // namespace

bool has_cloud_provider_config(const InstallConfig& config) { return config.platform.type == "vsphere"; }

Json cloud_provider_config(const InstallConfig& config, const ClusterId& id) {
  const std::string text = has_preview_gate(config, "VSphereMultiVCenters") ? vsphere_yaml(config) : vsphere_ini(config, id);
  return config_map("openshift-config", cloud_provider_config_name, {{cloud_provider_config_key, text}});
}

}  // namespace slipway::assets
