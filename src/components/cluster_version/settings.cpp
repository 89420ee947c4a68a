#include "components/cluster_version/settings.h"

#include "sys/environment_variable.h"

namespace slipway::components::cluster_version {

std::string cluster_profile() { return sys::environment_variable("CLUSTER_PROFILE", "self-managed-high-availability"); }
std::string excluded_manifests() { return sys::environment_variable("EXCLUDE_MANIFESTS"); }

}  // namespace slipway::components::cluster_version
