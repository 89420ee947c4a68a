// KubeletConfigs of users, as the MachineConfigs that they become.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

// Why a KubeletConfig or a ContainerRuntimeConfig is not honoured, as a sentence; empty when it is. Pure.
std::string reason_to_refuse(const Json& object);

// 99-POOL-generated-kubelet for every pool that a KubeletConfig selects by the pool's labels: the kubelet.conf of the templates
// with spec.kubeletConfig over it; of several the last one by name wins, field by field. Those that are refused are passed over.
// Pure.
//
//   templates  the generated MachineConfigs of all roles
//   errors     invalid: the template is none
Result<std::vector<machineconfig::MachineConfig>> kubelet_machine_configs(
    const std::vector<Json>& pools, std::vector<Json> kubelet_configs, const std::vector<machineconfig::MachineConfig>& templates,
    std::string_view controller_version);

}  // namespace slipway::components::machine_config_operator
