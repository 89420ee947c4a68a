// The objects of API group machineconfiguration.openshift.io/v1, with the fields that slipway uses.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "ignition/types.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::machineconfig {

struct MachineConfig {
  std::string name;
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> annotations{};
  ignition::Config config{};
  std::string os_image_url{};
  std::string extensions_image{};  // baseOSExtensionsContainerImage
  std::vector<std::string> kernel_arguments{};
  std::vector<std::string> extensions{};
  std::string kernel_type{};
  bool fips = false;

  std::string role() const;  // value of the role label
  bool operator==(const MachineConfig&) const = default;
};

struct Pool {
  std::string name;
  std::vector<std::string> roles;  // roles whose MachineConfigs it selects: {"worker", "infra"}
  Json object;                     // the original MachineConfigPool

  bool operator==(const Pool&) const = default;
};

// errors: invalid, listing all problems with their fields: a malformed or invalid Ignition config, values of the wrong kind
Result<MachineConfig> parse_machine_config(const Json& object, std::string_view name);
Json to_json(const MachineConfig& config);

// errors: invalid: no name, an unsupported selector
Result<Pool> parse_pool(const Json& object, std::string_view name);

}  // namespace slipway::machineconfig
