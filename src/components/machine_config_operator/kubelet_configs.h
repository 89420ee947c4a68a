// Renders MachineConfigs from the KubeletConfigs of users.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

// Why a KubeletConfig or a ContainerRuntimeConfig is refused; empty when it is accepted. Pure.
std::string reason_to_refuse(const Json& object);

// Returns 99-POOL-generated-kubelet for every pool that a KubeletConfig selects by the pool's labels. Its kubelet.conf is the
// file of the templates merged with spec.kubeletConfig. If several KubeletConfigs select a pool, they are merged in the order of
// their names, and the last value of a field wins. Refused KubeletConfigs are ignored. Pure.
//
//   templates  the generated MachineConfigs of all roles
//   errors     invalid: the kubelet.conf of the templates is missing or invalid
Result<std::vector<machineconfig::MachineConfig>> kubelet_machine_configs(
    const std::vector<Json>& pools, std::vector<Json> kubelet_configs, const std::vector<machineconfig::MachineConfig>& templates,
    std::string_view controller_version);

}  // namespace slipway::components::machine_config_operator
