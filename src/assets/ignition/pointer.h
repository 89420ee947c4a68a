// Pointer configs: small Ignition configs that tell a machine where to fetch its real one.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// master.ign and worker.ign: the URL of the role's config, the authority to trust there, and a token. Without the token the
// server answers 403.
PointerConfigs make_pointer_configs(const config::InstallConfig& config, const RootTls& root, const ServerToken& token);

// The user's changes of a pointer config, as MachineConfig 99-installer-ignition-ROLE: they also apply to machines that are not
// created from that file. The URL of the server and the token are left out.
AssetFiles pointer_manifests(const PointerEdits& edits, const Tls& tls);

// The text of a *.ign file.
std::string ignition_text(const ignition::Config& config);

}  // namespace slipway::assets
