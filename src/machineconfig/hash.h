// Names of rendered MachineConfigs: the same content has the same name on the bootstrap machine and in the cluster. The
// hand-over depends on it.
#pragma once

#include "machineconfig/types.h"

#include <string>
#include <string_view>

namespace slipway::machineconfig {

// The spec of a MachineConfig in the form that OpenShift's machine-config-operator hashes: YAML with sorted keys, empty lists and
// fips always there, long lines folded.
std::string canonical_spec(const MachineConfig& config);

// "rendered-master-9f0c...": MD5 over the salt of the machine-config-operator and the canonical spec. MD5 because the name is
// a checksum that others can recompute; nothing trusts it.
std::string rendered_name(std::string_view pool, const MachineConfig& config);

}  // namespace slipway::machineconfig
