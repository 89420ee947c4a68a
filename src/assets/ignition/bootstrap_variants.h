// Files that only some platforms have on the bootstrap machine: folders of data/bootstrap-variants, and the values that their
// files ask for.
#pragma once

#include "assets/assets.h"
#include "base/template.h"

#include <string_view>
#include <vector>

namespace slipway::assets {

// The folders of data/bootstrap-variants that a platform has, in the order in which they are laid over each other.
std::vector<std::string_view> variant_folders(const config::InstallConfig& config);

// The values that files in those folders may ask for; none on most platforms.
TemplateValues variant_values(const config::InstallConfig& config, const IronicCredentials& ironic);

// Content, by path, of files that are empty or a newline because the install-config has nothing for them. openshift-install
// writes them too.
std::map<std::string, std::string> silent_files(const config::InstallConfig& config);

// Drawn on platform baremetal only. errors: those of Random
Result<IronicCredentials> make_ironic_credentials(const config::InstallConfig& config, const Randomness& random);

}  // namespace slipway::assets
