#include "components/node_tuning/render.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::components::node_tuning {
namespace {

using testing_support::OperatorEnvironment;

TEST(TuningRender, WritesNothing) {
  OperatorEnvironment world;
  ASSERT_TRUE(run_render(world.environment(), {"--asset-input-dir=/in", "--asset-output-dir=/out"}).ok());
  EXPECT_TRUE(world.names("/").empty());
}

}  // namespace
}  // namespace slipway::components::node_tuning
