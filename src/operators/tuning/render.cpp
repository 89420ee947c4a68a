#include "operators/tuning/render.h"

#include "operators/lib/flags.h"

namespace slipway::operators {

Result<> run_tuning_render(const Environment&, const Arguments& arguments) {
  const std::vector<Flag> table = {{.name = "asset-input-dir"}, {.name = "asset-output-dir"}};
  TRY(parse_flags("cluster-node-tuning-operator render", table, arguments));
  return Ok{};
}

}  // namespace slipway::operators
