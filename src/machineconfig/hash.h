// Names of rendered MachineConfigs. The same content has the same name on the bootstrap machine and in the cluster, which the
// handover from the bootstrap machine requires.
#pragma once

#include "machineconfig/types.h"

#include <string>
#include <string_view>

namespace slipway::machineconfig {

// The spec of a MachineConfig in the form that OpenShift's machine-config-operator hashes: YAML with sorted keys, with empty
// lists and fips, with long lines folded.
std::string canonical_spec(const MachineConfig& config);

// "rendered-master-9f0c...": MD5 of the machine-config-operator's salt and the canonical spec. The name is a checksum that other
// programs can compute; it is not used for security.
std::string rendered_name(std::string_view pool, const MachineConfig& config);

}  // namespace slipway::machineconfig
