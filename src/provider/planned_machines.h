// Machines of a cluster, as all platforms plan them whose machines have names of slipway. Pure.
#pragma once

#include "provider/provider.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider {

// The bootstrap machine, masters and workers, without addresses.
std::vector<Machine> planned_machines(const config::InstallConfig& config);

// errors: invalid: not a name for a machine
Result<> check_machine_name(const std::string& name);

// The group with the machine; null if none has it. Valid as long as the groups.
const MachineGroup* group_of(const std::vector<MachineGroup>& groups, const std::string& machine);

// Settings of the machines of a role. The bootstrap machine has those of a master.
const Json& pool_of(const config::InstallConfig& config, std::string_view role);

// The number at the end of a name; 0 if there is none.
std::size_t number_of(std::string_view name);

// By the virtual addresses of the config, which the host reaches itself; nullopt if the config has none.
std::optional<HostAccess> access_by_virtual_addresses(const config::InstallConfig& config);

}  // namespace slipway::provider
