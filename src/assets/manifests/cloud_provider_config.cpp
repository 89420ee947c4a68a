#include "assets/manifests/cloud_provider_config.h"

#include "assets/machines/vsphere_topology.h"
#include "assets/manifest_file.h"
#include "assets/platform.h"
#include "base/text.h"
#include "base/yaml.h"

#include <algorithm>

namespace slipway::assets {

namespace {

using config::InstallConfig;

constexpr std::string_view region_category = "openshift-region";
constexpr std::string_view zone_category = "openshift-zone";
constexpr int default_port = 443;

// A line of an INI file; empty if the value is empty.
std::string line(std::string_view key, std::string_view value) {
  return value.empty() ? "" : fmt::format("{} = \"{}\"\n", key, value);
}

std::int64_t port_of(const Json& vcenter) {
  const Json* port = find(vcenter, {"port"});
  return port && port->is_int64() ? port->get_int64() : 0;
}

// The names of tag categories are only needed with several failure domains.
bool has_labels(const std::vector<FailureDomain>& domains) { return domains.size() > 1; }

// The data centers of a vCenter: those it lists, then further ones of its failure domains.
std::vector<std::string> datacenters_of(const Json& vcenter, const std::vector<FailureDomain>& domains) {
  std::vector<std::string> names = texts_of(vcenter, {"datacenters"});
  for (const FailureDomain& domain : domains) {
    if (domain.server == text_of(vcenter, {"server"}) && std::ranges::find(names, domain.datacenter) == names.end()) {
      names.push_back(domain.datacenter);
    }
  }
  return names;
}

// Blank lines are where CloudProviderConfigIni of OpenShift's installer has them (pkg/asset/manifests/vsphere): after a port,
// none between vCenters, one at the end if there are no labels.
std::string vsphere_ini(const InstallConfig& config, const ClusterId& id) {
  const std::vector<FailureDomain> domains = failure_domains(config);
  std::string text = "[Global]\n";
  text += line("secret-name", "vsphere-creds") + line("secret-namespace", "kube-system") + line("insecure-flag", "1") + "\n";
  for (const Json& vcenter : find_array(config.platform.section, {"vcenters"})) {
    text += fmt::format("[VirtualCenter \"{}\"]\n", text_of(vcenter, {"server"}));
    if (const std::int64_t port = port_of(vcenter); port != 0) text += line("port", std::to_string(port)) + "\n";
    text += line("datacenters", join(datacenters_of(vcenter, domains), ","));
  }
  text += "\n";
  if (!domains.empty()) {
    const FailureDomain& first = domains.front();
    text += "[Workspace]\n" + line("server", first.server) + line("datacenter", first.datacenter);
    text += line("default-datastore", first.datastore) + line("folder", machine_folder(first, id));
    text += line("resourcepool-path", first.resource_pool) + "\n";
  }
  if (has_labels(domains)) text += "[Labels]\n" + line("region", region_category) + line("zone", zone_category);
  return text;
}

// The newer form, which supports several vCenters. The order of keys is that of the reader's struct.
std::string vsphere_yaml(const InstallConfig& config) {
  JsonObject vcenters;
  for (const Json& each : find_array(config.platform.section, {"vcenters"})) {
    const std::int64_t port = port_of(each);
    vcenters[text_of(each, {"server"})] = {{"user", ""},
                                           {"password", ""},
                                           {"tenantref", ""},
                                           {"server", text_of(each, {"server"})},
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

bool has_cloud_provider_config(const InstallConfig& config) {
  return config.platform.type == "vsphere" || config.platform.type == "aws";
}

Json cloud_provider_config(const InstallConfig& config, const ClusterId& id) {
  // The API server of OpenShift fails if the ConfigMap exists and has no text.
  if (config.platform.type == "aws") {
    return config_map("openshift-config", cloud_provider_config_name, {{cloud_provider_config_key, "[Global]\n"}});
  }
  const std::string text = has_preview_gate(config, "VSphereMultiVCenters") ? vsphere_yaml(config) : vsphere_ini(config, id);
  return config_map("openshift-config", cloud_provider_config_name, {{cloud_provider_config_key, text}});
}

}  // namespace slipway::assets
