#include "machineconfig/templates.h"

#include "base/findings.h"
#include "base/text.h"
#include "config/platforms.h"
#include "data/data.h"
#include "ignition/data_url.h"
#include "ignition/make.h"
#include "machineconfig/labels.h"
#include "machineconfig/registry_logins.h"

#include <algorithm>
#include <array>
#include <map>

namespace slipway::machineconfig {

namespace {

struct Output {
  std::string_view folder;  // in the folder of a role or in common/
  std::string_view name;    // of the MachineConfig; * stands for the role
};
constexpr std::array outputs = {Output{"00", "00-*"}, Output{"01-container-runtime", "01-*-container-runtime"},
                                Output{"01-kubelet", "01-*-kubelet"}};

// Paths that only root may read: credentials, the proxy's address, which may contain a password, and the configuration of the
// kubelet and static pods. Other files have mode 0644, programs 0755.
constexpr std::array private_places = {"/var/lib/kubelet/config.json", "/etc/mco/proxy.env", "/etc/kubernetes/",
                                       "/etc/openshift/", "/etc/containerd/conf.d/"};

bool holds_virtual_addresses(const ControllerConfig& config) {
  const config::PlatformRow* row = config::find_platform_row(config.platform);
  return !config.api_vips.empty() && !config.ingress_vips.empty() && row && row->holds_virtual_addresses;
}

// Folders of templates in ascending priority: a file in a later folder replaces that of an earlier one.
std::vector<std::string> overlays(std::string_view role, const Output& output, const ControllerConfig& config) {
  std::vector<std::string> folders;
  for (std::string_view scope : {std::string_view("common"), role}) {
    folders.push_back(fmt::format("{}/{}/_base/", scope, output.folder));
    if (holds_virtual_addresses(config)) folders.push_back(fmt::format("{}/{}/on-prem/", scope, output.folder));
    if (!config.platform.empty()) folders.push_back(fmt::format("{}/{}/{}/", scope, output.folder, config.platform));
  }
  return folders;
}

// Templates by target, such as "files/etc/motd", sorted.
using Entries = std::map<std::string_view, const data::File*>;

Entries entries_of(const std::vector<std::string>& folders) {
  Entries entries;
  for (const std::string& folder : folders) {
    for (const data::File& file : data::machine_config()) {
      if (file.path.starts_with(folder)) entries[file.path.substr(folder.size())] = &file;
    }
  }
  return entries;
}

int mode_of(std::string_view path) {
  if (path.find("/bin/") != std::string_view::npos || path.find("/sbin/") != std::string_view::npos) return 0755;
  return std::ranges::any_of(private_places, [&](std::string_view place) { return path.starts_with(place); }) ? 0600 : 0644;
}

void put_entry(ignition::Config& config, std::string_view entry, std::string text) {
  constexpr std::string_view files = "files", units = "units/";
  if (entry.starts_with(files)) {
    const std::string_view path = entry.substr(files.size());
    ignition::File file = ignition::make_file(std::string(path), text, mode_of(path));
    // Always percent-encoded, so that a text has only one form in rendered configs.
    file.contents.source = ignition::encode_data_url(text, ignition::DataEncoding::percent);
    return ignition::put(config, std::move(file));
  }
  const std::string_view unit = entry.substr(units.size());
  const std::size_t dropin = unit.find(".d/");
  if (dropin != std::string_view::npos) {
    const std::string_view stem = unit.substr(dropin + 3);
    return ignition::put_dropin(config, unit.substr(0, dropin), stem.substr(0, stem.rfind(".conf")), std::move(text));
  }
  // Units with an [Install] section are enabled.
  const bool enabled = text.find("[Install]") != std::string::npos;
  ignition::put(config, ignition::make_unit(std::string(unit), std::move(text), enabled));
}

// Splits "https://api-int.demo.example.com:6443" into host and port.
std::pair<std::string, std::string> host_and_port_of(std::string_view url) {
  url = url.substr(std::min(url.size(), std::string_view("https://").size()));
  const std::size_t colon = url.rfind(':');
  if (colon == std::string_view::npos) return {std::string(url), "6443"};
  return {std::string(url.substr(0, colon)), std::string(url.substr(colon + 1))};
}

std::string proxy_environment(const Json& proxy) {
  std::string text;
  for (const auto& [name, key] : {std::pair{"HTTP_PROXY", "httpProxy"}, {"HTTPS_PROXY", "httpsProxy"}, {"NO_PROXY", "noProxy"}}) {
    const std::string_view value = find_string(proxy, {key}).value_or("");
    if (!value.empty()) text += fmt::format("{}={}\n", name, value);
  }
  return text;
}

Result<TemplateValues> template_values(std::string_view role, const ControllerConfig& config, const Secret& pull_secret) {
  Findings findings;
  const auto required = [&](std::string_view what, std::string value) {
    if (value.empty()) findings.error({"ControllerConfig"}, std::string(what), "missing");
    return value;
  };
  const auto image = [&](const std::string& key) {
    const auto found = config.images.find(key);
    return required("spec.images." + key, found == config.images.end() ? "" : found->second);
  };
  std::vector<std::string> vips = config.api_vips;
  vips.insert(vips.end(), config.ingress_vips.begin(), config.ingress_vips.end());
  const auto [host, port] = host_and_port_of(required("spec.infra.status.apiServerInternalURI", config.internal_api_url()));
  TemplateValues values = {
      {"API_INT_HOST", host},
      {"API_INT_PORT", port},
      {"CLUSTER_DNS_IP", required("spec.clusterDNSIP", config.cluster_dns_ip)},
      {"MACHINE_CONFIG_OPERATOR_IMAGE", image("machineConfigOperator")},
      {"POD_IMAGE", image("infraImageKey")},
      {"PROXY_ENVIRONMENT", proxy_environment(config.proxy)},
      {"PULL_SECRET", pull_secret.reveal()},
      {"TAINT_FLAG", role == "master" ? "--register-with-taints=node-role.kubernetes.io/master:NoSchedule" : ""},
      {"TRUST_BUNDLE", config.additional_trust_bundle},
      {"VIPS", join(vips, " ")},
  };
  if (holds_virtual_addresses(config)) {
    // A single control-plane machine has only one API server.
    const bool is_single = find_string(config.infrastructure, {"status", "controlPlaneTopology"}) == "SingleReplica";
    values.insert({{"API_VIPS", config.api_vips.front()},
                   {"CLUSTER_DOMAIN", required("spec.dns.spec.baseDomain", text_of(config.dns, {"spec", "baseDomain"}))},
                   {"INGRESS_VIPS", config.ingress_vips.front()},
                   {"KEEPALIVED_IMAGE", image("keepalivedImage")},
                   {"NEEDED_API_SERVERS", is_single ? "1" : "2"},
                   {"PLATFORM", config.platform},
                   {"RUNTIMECFG_IMAGE", image("baremetalRuntimeCfgImage")}});
    if (role == "master") values["HAPROXY_IMAGE"] = image("haproxyImage");
    // Placeholders that only the machine can replace are kept for `runtimecfg render`.
    for (const std::string address : {"", "INGRESS_"}) {
      for (const std::string name : {"ADDRESS", "INTERFACE", "PREFIX", "ROUTER_ID"}) {
        values[address + name] = "{{" + address + name + "}}";
      }
    }
  }
  TRY(findings.to_result());
  values["REGISTRY_LOGINS"] = TRY(registry_logins(pull_secret)).reveal();
  return values;
}

}  // namespace

Result<std::vector<MachineConfig>> template_configs(std::string_view role, const ControllerConfig& config,
                                                    const Secret& pull_secret) {
  if (std::ranges::find(template_roles, role) == std::end(template_roles)) {
    return error(Code::invalid, "no templates for role '{}'", role);
  }
  const TemplateValues values = TRY(template_values(role, config, pull_secret));
  std::vector<MachineConfig> configs;
  for (const Output& output : outputs) {
    MachineConfig made;
    const std::size_t star = output.name.find('*');
    made.name = fmt::format("{}{}{}", output.name.substr(0, star), role, output.name.substr(star + 1));
    made.labels = {{std::string(role_label), std::string(role)}};
    made.annotations = {{std::string(generated_by), config.version}};
    made.config.ignition.version = ignition::Version::v3_2;
    for (const auto& [entry, file] : entries_of(overlays(role, output, config))) {
      std::string text = TRY(fill_template(file->content, file->path, values));
      // A template without content creates no file.
      if (!trim(text).empty()) put_entry(made.config, entry, std::move(text));
    }
    configs.push_back(std::move(made));
  }
  return configs;
}

}  // namespace slipway::machineconfig
