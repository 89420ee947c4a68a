#include "operators/bootstrap/start.h"

namespace slipway::operators {

Result<> run_bootstrap_version(const Environment& environment, const Arguments&) {
  environment.print("cluster-bootstrap " SLIPWAY_VERSION "\n");
  return Ok{};
}

}  // namespace slipway::operators
