#include "components/cluster_version/settings.h"

#include "release/release.h"
#include "sys/environment_variable.h"

namespace slipway::components::cluster_version {

std::string cluster_profile() { return sys::environment_variable("CLUSTER_PROFILE", std::string(release::default_profile)); }
std::string excluded_manifests() { return sys::environment_variable("EXCLUDE_MANIFESTS"); }

}  // namespace slipway::components::cluster_version
