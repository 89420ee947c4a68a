// MachineConfigs that an install-config asks for (installer 5.4).
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

AssetFiles machine_configs(const config::InstallConfig& config);

}  // namespace slipway::assets
