// Facts about a cluster that machine configs depend on, and the ControllerConfig computed from them. The facts come from files on
// the bootstrap machine or from objects in the cluster. Both must give the same configs: a machine gets its config from the
// bootstrap machine and looks for the name of that config in the cluster.
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
  std::string version;  // version of the payload
  std::string release_image;
  std::map<std::string, std::string> images;  // by name of the component in the release
  std::string cluster_name;
  std::string platform;               // name of the platform in the install-config
  std::vector<std::string> api_vips;  // if there are any, the bootstrap machine holds the first one
  std::vector<std::string> ingress_vips;
  std::string cluster_dns_ip;
  std::string ip_families;
  std::string network_type;
  std::string root_ca, kube_ca, cloud_ca, trust_bundle, cloud_config;  // the last four may be empty
  std::string pull_secret;                                             // the Secret, the text of its file
  Json infrastructure, dns, proxy;
};

// An image from the release or from a flag of `machine-config-operator bootstrap`.
struct MachineConfigImage {
  std::string_view flag;
  std::string_view component;
  std::string_view key = "";  // in spec.images of the ControllerConfig
};
std::span<const MachineConfigImage> machine_config_images();

// Read facts from the ConfigMap with the install-config and from the Network. name: name of the object or file, for findings
void take_install_config(const Json& config_map, const std::string& name, MachineConfigInputs& inputs, Findings& findings);
void take_network(const Json& network, const std::string& name, MachineConfigInputs& inputs, Findings& findings);

// Adds the image of the operating system under the name that flags and configs use. Findings: images that are missing. They
// depend
// on the platform, so call take_install_config first.
void complete_images(const std::string& name, std::string_view hint, MachineConfigInputs& inputs, Findings& findings);

machineconfig::ControllerConfig controller_config(const MachineConfigInputs& inputs);

// The MachineConfigPool of a role: "master", "worker".
Json built_in_pool(std::string_view role);

}  // namespace slipway::components::machine_config_operator
