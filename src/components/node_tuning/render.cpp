#include "components/node_tuning/render.h"

#include "base/flags.h"

namespace slipway::components::node_tuning {

Result<> run_render(const Environment&, const Arguments& arguments) {
  const std::vector<Flag> table = {{.name = "asset-input-dir"}, {.name = "asset-output-dir"}};
  TRY(parse_flags("cluster-node-tuning-operator render", table, arguments));
  return Ok{};
}

}  // namespace slipway::components::node_tuning
