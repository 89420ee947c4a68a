#include "components/controller/bootstrap_complete.h"

namespace slipway::components {

bool bootstrap_is_complete(const Snapshot& seen) {
  const Json* map = seen.find(kube::types::config_maps, "kube-system", "bootstrap");
  return map && find_string(*map, {"data", "status"}) == "complete";
}

}  // namespace slipway::components
