// Files of the bootstrap machine that depend on the platform: folders of data/bootstrap-variants and their template values.
#pragma once

#include "assets/assets.h"
#include "base/template.h"

#include <string_view>
#include <vector>

namespace slipway::assets {

// The platform's folders of data/bootstrap-variants. Files of later folders replace those of earlier ones.
std::vector<std::string_view> variant_folders(const config::InstallConfig& config);

// Template values for the files in these folders; none on most platforms.
TemplateValues variant_values(const config::InstallConfig& config, const IronicCredentials& ironic);

// Contents, by path, of files that are empty or a newline because the install-config has no value for them. openshift-install
// writes these files too.
std::map<std::string, std::string> silent_files(const config::InstallConfig& config);

// Empty except on platform baremetal. errors: those of Random
Result<IronicCredentials> make_ironic_credentials(const config::InstallConfig& config, const Randomness& random);

}  // namespace slipway::assets
