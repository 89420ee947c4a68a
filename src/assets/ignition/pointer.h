// Pointer configs: the little that a machine's Ignition needs to fetch the rest (installer 6.8).
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// master.ign and worker.ign: where the config of the role is, whom to trust there, and the token without which the server gives
// nothing away (design 12.14).
PointerConfigs make_pointer_configs(const config::InstallConfig& config, const RootTls& root, const ServerToken& token);

// What the user wrote into a pointer config, as a MachineConfig 99-installer-ignition-ROLE: so it is in the cluster too, and not
// only on machines that were made of that file (installer 6.8, 12.2). Without what leads to the server, its token among that.
AssetFiles pointer_manifests(const PointerEdits& edits, const Tls& tls);

// The text of a config as it is written to *.ign.
std::string ignition_text(const ignition::Config& config);

}  // namespace slipway::assets
