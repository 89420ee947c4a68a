#include "operators/tuning/render.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::operators {
namespace {

using testing_support::OperatorEnvironment;

TEST(TuningRender, WritesNothing) {
  OperatorEnvironment world;
  ASSERT_TRUE(run_tuning_render(world.environment(), {"--asset-input-dir=/in", "--asset-output-dir=/out"}).ok());
  EXPECT_TRUE(world.names("/").empty());
}

}  // namespace
}  // namespace slipway::operators
