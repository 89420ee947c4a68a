// MachineConfigs for settings of the install-config: SSH key, FIPS, hyperthreading, dual stack.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

AssetFiles machine_configs(const config::InstallConfig& config);

}  // namespace slipway::assets
