#include "components/machine_config_operator/inputs.h"

#include "base/yaml.h"
#include "components/render/inputs.h"
#include "kube/roles.h"
#include "machineconfig/labels.h"
#include "machineconfig/pools.h"

#include <array>

namespace slipway::components::machine_config_operator {

namespace {

constexpr std::array images = {
    MachineConfigImage{"machine-config-operator-image", "machine-config-operator", "machineConfigOperator"},
    MachineConfigImage{"infra-image", "pod", "infraImageKey"},
    MachineConfigImage{"keepalived-image", "keepalived-ipfailover", "keepalivedImage"},
    MachineConfigImage{"baremetal-runtimecfg-image", "baremetal-runtimecfg", "baremetalRuntimeCfgImage"},
    MachineConfigImage{"coredns-image", "coredns", "corednsImage"},
    MachineConfigImage{"haproxy-image", "haproxy-router", "haproxyImage"},
    MachineConfigImage{"docker-registry-image", "docker-registry", "dockerRegistryImage"},
    MachineConfigImage{"kube-rbac-proxy-image", "kube-rbac-proxy", "kubeRbacProxyImage"},
    MachineConfigImage{"oauth-proxy-image", "oauth-proxy"},
    MachineConfigImage{"machine-config-oscontent-image", "machine-os-content"},
    MachineConfigImage{"baseos-image", "rhel-coreos"},
    MachineConfigImage{"baseos-extensions-image", "rhel-coreos-extensions"},
};

// Virtual addresses under the first name that the platform has: platform ovirt spells them differently.
std::vector<std::string> addresses(const Json& platform, std::initializer_list<std::string_view> names) {
  std::vector<std::string> all;
  for (const std::string_view name : names) {
    const Json* value = find(platform, {name});
    if (value == nullptr || !all.empty()) continue;
    if (value->is_string() && !value->get_string().empty()) all.emplace_back(value->get_string());
    if (!value->is_array()) continue;
    for (const Json& item : value->get_array()) {
      if (item.is_string()) all.emplace_back(item.get_string());
    }
  }
  return all;
}

}  // namespace

std::span<const MachineConfigImage> machine_config_images() { return images; }

void take_install_config(const Json& map, const std::string& name, MachineConfigInputs& inputs, Findings& findings) {
  if (map.is_null()) return;
  const Result<YamlDocument> config =
      parse_yaml(find_string(map, {"data", "install-config"}).value_or(""), name + ": install-config");
  if (!config.ok()) {
    findings.error({name}, "data.install-config", "{}", config.error().message());
    return;
  }
  inputs.cluster_name = find_string(config->value, {"metadata", "name"}).value_or("");
  const JsonObject& platforms = find_object(config->value, {"platform"});
  if (platforms.size() != 1) {
    findings.error({name}, "data.install-config", "platform must have one member, has {}", platforms.size());
    return;
  }
  const auto& platform = *platforms.begin();
  inputs.platform = platform.key();
  inputs.api_vips = addresses(platform.value(), {"apiVIPs", "apiVIP", "api_vips", "api_vip"});
  inputs.ingress_vips = addresses(platform.value(), {"ingressVIPs", "ingressVIP", "ingress_vips", "ingress_vip"});
}

void take_network(const Json& object, const std::string& name, MachineConfigInputs& inputs, Findings& findings) {
  if (object.is_null()) return;
  const Network network = parse_network(object, name, findings);
  inputs.network_type = network.type;
  if (network.service.empty()) return;
  const net::Cidr& first = network.service.front();
  const Result<net::IpAddress> dns = first.host(10);
  if (dns.ok())
    inputs.cluster_dns_ip = to_string(dns.value());
  else
    findings.error({name}, "spec.serviceNetwork", "{}", dns.error().message());
  const bool dual = network.service.size() > 1;
  inputs.ip_families = first.is_v4() ? (dual ? "DualStack" : "IPv4") : (dual ? "DualStackIPv6Primary" : "IPv6");
}

void complete_images(const std::string& name, std::string_view hint, MachineConfigInputs& inputs, Findings& findings) {
  for (const auto& [ours, theirs] :
       {std::pair("machine-os", "rhel-coreos"), std::pair("machine-os-extensions", "rhel-coreos-extensions")}) {
    if (const auto image = inputs.images.find(ours); image != inputs.images.end()) inputs.images.emplace(theirs, image->second);
  }
  std::vector<std::string_view> needed = {"machine-config-operator", "pod"};
  if (!inputs.api_vips.empty()) needed.insert(needed.end(), {"baremetal-runtimecfg", "haproxy-router", "keepalived-ipfailover"});
  for (std::string_view component : needed) {
    if (!inputs.images[std::string(component)].empty()) continue;
    findings.error({name}, "", "has no image '{}'", component).hint(std::string(hint));
  }
}

machineconfig::ControllerConfig controller_config(const MachineConfigInputs& inputs) {
  const auto image = [&](std::string_view component) {
    const auto found = inputs.images.find(std::string(component));
    return found == inputs.images.end() ? std::string() : found->second;
  };
  machineconfig::ControllerConfig config{.version = inputs.version};
  config.release_image = inputs.release_image;
  config.platform = inputs.platform;
  config.cluster_dns_ip = inputs.cluster_dns_ip;
  config.ip_families = inputs.ip_families;
  config.network_type = inputs.network_type;
  config.cloud_provider_config = inputs.cloud_config;
  config.root_ca = inputs.root_ca;
  config.kubelet_client_ca = inputs.kube_ca;
  config.cloud_provider_ca = inputs.cloud_ca;
  config.additional_trust_bundle = inputs.trust_bundle;
  config.os_image = image("rhel-coreos");
  config.extensions_image = image("rhel-coreos-extensions");
  config.api_vips = inputs.api_vips;
  config.ingress_vips = inputs.ingress_vips;
  config.infrastructure = inputs.infrastructure;
  config.dns = inputs.dns;
  if (const Json* status = find(inputs.proxy, {"status"})) config.proxy = *status;
  for (const MachineConfigImage& row : images) {
    if (!row.key.empty()) config.images[std::string(row.key)] = image(row.component);
  }
  config.images["apiServerWatcherKey"] = image("machine-config-operator");
  return config;
}

Json built_in_pool(std::string_view role) {
  const std::string node_role = kube::role_label(role);
  return {{"apiVersion", machineconfig::api_version},
          {"kind", "MachineConfigPool"},
          {"metadata", {{"name", role}, {"labels", machineconfig::built_in_labels(role)}}},
          {"spec",
           {{"machineConfigSelector", {{"matchLabels", {{machineconfig::role_label, role}}}}},
            {"nodeSelector", {{"matchLabels", {{node_role, ""}}}}}}}};
}

}  // namespace slipway::components::machine_config_operator
