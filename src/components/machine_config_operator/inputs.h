// What machine configuration needs to know of a cluster, and what is made of it. The inputs are files on the bootstrap machine
// and objects in the cluster. Both give the same configs: machines get a config from one and look for its name in the other.
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "machineconfig/controller_config.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

struct MachineConfigInputs {
  std::string version;  // of the payload
  std::string release_image;
  std::map<std::string, std::string> images;  // by component of the release
  std::string cluster_name;
  std::string platform;               // as install-config names it
  std::vector<std::string> api_vips;  // with any, this machine holds the first one
  std::vector<std::string> ingress_vips;
  std::string cluster_dns_ip;
  std::string ip_families;
  std::string network_type;
  std::string root_ca, kube_ca, cloud_ca, trust_bundle, cloud_config;  // the last four may be empty
  std::string pull_secret;                                             // the Secret, as the file has it
  Json infrastructure, dns, proxy;
};

// An image that is taken from the release, or from a flag of `machine-config-operator bootstrap`.
struct MachineConfigImage {
  std::string_view flag;
  std::string_view component;
  std::string_view key = "";  // in spec.images of the ControllerConfig
};
std::span<const MachineConfigImage> machine_config_images();

// Of the ConfigMap with the install-config, and of the Network. name: of the object or its file, for findings
void take_install_config(const Json& config_map, const std::string& name, MachineConfigInputs& inputs, Findings& findings);
void take_network(const Json& network, const std::string& name, MachineConfigInputs& inputs, Findings& findings);

// Puts the machine's operating system under the name that flags and configs know it by; findings: images that are missing, which
// depend on the platform, so the install-config comes first.
void complete_images(const std::string& name, std::string_view hint, MachineConfigInputs& inputs, Findings& findings);

machineconfig::ControllerConfig controller_config(const MachineConfigInputs& inputs);

// The MachineConfigPool of a role: "master", "worker".
Json built_in_pool(std::string_view role);

}  // namespace slipway::components::machine_config_operator
