#include "operators/version/settings.h"

#include <cstdlib>

namespace slipway::operators {

namespace {

std::string variable(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value && *value ? value : fallback;
}

}  // namespace

std::string cluster_profile() { return variable("CLUSTER_PROFILE", "self-managed-high-availability"); }
std::string excluded_manifests() { return variable("EXCLUDE_MANIFESTS", ""); }

}  // namespace slipway::operators
