#include "components/cluster_bootstrap/start.h"

namespace slipway::components::cluster_bootstrap {

Result<> run_version(const Environment& environment, const Arguments&) {
  environment.print("cluster-bootstrap " SLIPWAY_VERSION "\n");
  return Ok{};
}

}  // namespace slipway::components::cluster_bootstrap
