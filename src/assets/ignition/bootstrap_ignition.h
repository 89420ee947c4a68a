// bootstrap.ign: everything that the bootstrap machine needs to make a control plane. Paths and names of units
// are those of openshift/installer data/data/bootstrap.
#pragma once

#include "assets/assets.h"
#include "base/template.h"
#include "data/data.h"

#include <span>
#include <string_view>

namespace slipway::assets {

// What slipway's own release is called, wherever a machine gets it from (docs/decisions/0003-release-layout.md).
inline constexpr std::string_view slipway_repository = "registry.slipway.invalid/slipway/release";

// The values that all files of data/bootstrap and data/bootstrap-variants may ask for.
TemplateValues bootstrap_values(const config::InstallConfig& config, const Environment& environment);

// Permissions of a file of data/bootstrap: programs 0555, files that programs of other users read 0644, all other files 0600.
int mode_of(std::string_view path);

// A file of root, in place of one of the same path.
void put_file(ignition::Config& config, const std::string& path, std::string_view content, int mode);

// Files and units of a folder of data/, filled in; a folder "x/" below it is laid out like data/bootstrap itself.
// errors: invalid: a file that asks for an unknown value
Result<> put_data_files(ignition::Config& config, std::span<const data::File> files, std::string_view folder,
                        const TemplateValues& values);

// Contents of the files that depend on the install-config.
std::string registries_conf(const config::InstallConfig& config);
std::string proxy_script(const config::InstallConfig& config);
std::string manager_environment(const config::InstallConfig& config);

// Adds ConfigMap openshift-config/openshift-install, which says what made the cluster. Only for clusters whose machines slipway
// creates, as in openshift-install.
void put_install_record(ignition::Config& bootstrap, const Environment& environment);

// errors: invalid: a release without slipway-node and nowhere to take it from; a file of data/ that asks for an unknown value
Result<BootstrapConfig> make_bootstrap_config(const config::InstallConfig& config, const Environment& environment, const Tls& tls,
                                              const ServerToken& token, const Kubeconfigs& kubeconfigs,
                                              const ManifestSet& manifests, const CvoOverrides& overrides,
                                              const IronicCredentials& ironic, const PointerEdits& edits);

}  // namespace slipway::assets
