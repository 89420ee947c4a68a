// bootstrap.ign: the Ignition config of the bootstrap machine, which creates the control plane. Paths and unit names are those of
// openshift/installer data/data/bootstrap.
#pragma once

#include "assets/assets.h"
#include "base/template.h"
#include "data/data.h"

#include <span>
#include <string_view>

namespace slipway::assets {

// The repository name of slipway's release. It is not a real registry (docs/decisions/0003-release-layout.md).
inline constexpr std::string_view slipway_repository = "registry.slipway.invalid/slipway/release";

// The template values for all files of data/bootstrap and data/bootstrap-variants.
TemplateValues bootstrap_values(const config::InstallConfig& config, const Environment& environment);

// Permissions of a file of data/bootstrap: programs 0555, files that programs of other users read 0644, all other files 0600.
int mode_of(std::string_view path);

// Adds a file that root owns, or replaces the file with the same path.
void put_file(ignition::Config& config, const std::string& path, std::string_view content, int mode);

// Adds the files and units below a folder of data/, with the template values filled in. Each folder has the layout of
// data/bootstrap. errors: invalid: a file uses an unknown value
Result<> put_data_files(ignition::Config& config, std::span<const data::File> files, std::string_view folder,
                        const TemplateValues& values);

// Contents of the files that depend on the install-config.
std::string registries_conf(const config::InstallConfig& config);
std::string proxy_script(const config::InstallConfig& config);
std::string manager_environment(const config::InstallConfig& config);

// Adds ConfigMap openshift-config/openshift-install, which contains the invoker and version of the installer. As in
// openshift-install, only for clusters whose machines slipway creates.
void put_install_record(ignition::Config& bootstrap, const Environment& environment);

// errors: invalid: neither the release nor an image contains slipway-node; a file of data/ uses an unknown value
Result<BootstrapConfig> make_bootstrap_config(const config::InstallConfig& config, const Environment& environment, const Tls& tls,
                                              const ServerToken& token, const Kubeconfigs& kubeconfigs,
                                              const ManifestSet& manifests, const CvoOverrides& overrides,
                                              const IronicCredentials& ironic, const PointerEdits& edits);

}  // namespace slipway::assets
