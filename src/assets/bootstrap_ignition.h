// bootstrap.ign: everything that the bootstrap machine needs to make a control plane (installer 6.1 to 6.6).
#pragma once

#include "assets/assets.h"
#include "base/template.h"

#include <string_view>

namespace slipway::assets {

// The values that files under data/bootstrap may ask for.
TemplateValues bootstrap_values(const config::InstallConfig& config, const Environment& environment);

// Permissions of a file of data/bootstrap (installer 6.2): programs 0555, what other users' programs read 0644, all else 0600.
int mode_of(std::string_view path);

// Computed files (installer 6.3, 12.3).
std::string registries_conf(const config::InstallConfig& config);
std::string proxy_script(const config::InstallConfig& config);
std::string manager_environment(const config::InstallConfig& config);

// errors: invalid: a file of data/bootstrap that asks for an unknown value
Result<BootstrapConfig> make_bootstrap_config(const config::InstallConfig& config, const Environment& environment, const Tls& tls,
                                              const ServerToken& token, const Kubeconfigs& kubeconfigs,
                                              const ManifestSet& manifests, const CvoOverrides& overrides);

}  // namespace slipway::assets
