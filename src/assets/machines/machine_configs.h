// MachineConfigs that an install-config asks for.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

AssetFiles machine_configs(const config::InstallConfig& config);

}  // namespace slipway::assets
