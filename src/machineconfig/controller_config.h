// ControllerConfig: the cluster's data for the templates of MachineConfigs (openshift/api machineconfiguration/v1).
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

struct ControllerConfig {
  std::string version;  // of the controller that created the object
  std::string release_image{};
  std::string platform{};        // name in install-config: "local", "none", "baremetal"
  std::string cluster_dns_ip{};  // "172.30.0.10"
  std::string ip_families{};     // "IPv4", "IPv6", "DualStack", "DualStackIPv6Primary"
  std::string network_type{};
  std::string cloud_provider_config{};
  // PEM
  std::string root_ca{};
  std::string kubelet_client_ca{};  // kubeAPIServerServingCAData: authorities that kubelets trust for client certificates
  std::string cloud_provider_ca{};
  std::string additional_trust_bundle{};
  std::map<std::string, std::string> images{};  // by key, such as "infraImageKey"
  std::string os_image{};
  std::string extensions_image{};
  // Virtual addresses of the API and the ingress, which move between machines.
  std::vector<std::string> api_vips{};
  std::vector<std::string> ingress_vips{};
  // Objects of config.openshift.io/v1; of the Proxy only the status.
  Json infrastructure{};
  Json dns{};
  Json proxy{};

  // "https://api-int.demo.example.com:6443"; empty if the Infrastructure does not have it.
  std::string internal_api_url() const;

  bool operator==(const ControllerConfig&) const = default;
};

// The object "machine-config-controller". The virtual addresses are in annotations: the spec has no field for them, and the
// fields of the Infrastructure belong to other controllers (platform "local" has type None there).
Json to_json(const ControllerConfig& config);

// errors: invalid, listing all problems: malformed base64, values of the wrong kind
Result<ControllerConfig> parse_controller_config(const Json& object, std::string_view name);

}  // namespace slipway::machineconfig
