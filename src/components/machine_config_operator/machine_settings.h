// Renders MachineConfigs from the KubeletConfigs and ContainerRuntimeConfigs of users (machineconfig/pool_settings.h).
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "base/result.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

// What is wrong with an object, for a condition: "spec.a: REASON (HINT); spec.b: ...". Pure.
std::string reasons_of(const Findings& findings);

// Why a KubeletConfig or a ContainerRuntimeConfig is refused; empty when it is accepted. Pure.
std::string reason_to_refuse(const Json& object);

// Returns for every pool that accepted objects select:
//
//   99-POOL-generated-kubelet           kubelet.conf: the file of the templates, merged with the settings of the KubeletConfigs
//   99-POOL-generated-containerruntime  drop-ins of containerd and of the kubelet with the settings of the
//   ContainerRuntimeConfigs.
//                                       pidsLimit and logSizeMax are limits of the kubelet; if a KubeletConfig sets them as well,
//                                       the lower limit counts
//
// If several objects of a kind select a pool, they are merged in the order of their names, and the last value of a field wins.
// Refused objects are ignored. Pure.
//
//   objects    KubeletConfigs and ContainerRuntimeConfigs
//   templates  the generated MachineConfigs of all roles
//   errors     invalid: the kubelet.conf of the templates is missing or invalid
Result<std::vector<machineconfig::MachineConfig>> settings_configs(const std::vector<Json>& pools, std::vector<Json> objects,
                                                                   const std::vector<machineconfig::MachineConfig>& templates,
                                                                   std::string_view controller_version);

}  // namespace slipway::components::machine_config_operator
