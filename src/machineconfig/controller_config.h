// ControllerConfig: the facts of a cluster that templates of MachineConfigs need (openshift/api machineconfiguration/v1).
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

struct ControllerConfig {
  std::string version;  // of the controller that made it
  std::string release_image{};
  std::string platform{};        // as install-config names it: "local", "none", "baremetal"
  std::string cluster_dns_ip{};  // "172.30.0.10"
  std::string ip_families{};     // "IPv4", "IPv6", "DualStack", "DualStackIPv6Primary"
  std::string network_type{};
  std::string cloud_provider_config{};
  // PEM
  std::string root_ca{};
  std::string kubelet_client_ca{};  // kubeAPIServerServingCAData: whom kubelets believe
  std::string cloud_provider_ca{};
  std::string additional_trust_bundle{};
  std::map<std::string, std::string> images{};  // by key, "infraImageKey"
  std::string os_image{};
  std::string extensions_image{};
  // Virtual addresses of the API and the ingress; no machine's own.
  std::vector<std::string> api_vips{};
  std::vector<std::string> ingress_vips{};
  // Objects of config.openshift.io/v1; of the proxy only its status.
  Json infrastructure{};
  Json dns{};
  Json proxy{};

  // "https://api-int.demo.example.com:6443"; empty when the Infrastructure does not say.
  std::string internal_api_url() const;

  bool operator==(const ControllerConfig&) const = default;
};

// The object "machine-config-controller". The virtual addresses stand in annotations: the fields of the Infrastructure are
// others' (platform "local" has the type None there), and the spec has no place for them.
Json to_json(const ControllerConfig& config);

// errors: invalid, with every problem: data that is no base64, wrong kinds of values
Result<ControllerConfig> parse_controller_config(const Json& object, std::string_view name);

}  // namespace slipway::machineconfig
