#include "sys/environment_variable.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace slipway::sys {
namespace {

TEST(EnvironmentVariable, ThatIsMissingOrEmptyHasTheFallback) {
  ASSERT_EQ(::setenv("SLIPWAY_OF_A_TEST", "a value", 1), 0);
  EXPECT_EQ(environment_variable("SLIPWAY_OF_A_TEST", "other"), "a value");
  ASSERT_EQ(::setenv("SLIPWAY_OF_A_TEST", "", 1), 0);
  EXPECT_EQ(environment_variable("SLIPWAY_OF_A_TEST", "other"), "other");
  ASSERT_EQ(::unsetenv("SLIPWAY_OF_A_TEST"), 0);
  EXPECT_EQ(environment_variable("SLIPWAY_OF_A_TEST", "other"), "other");
  EXPECT_EQ(environment_variable("SLIPWAY_OF_A_TEST"), "");
}

}  // namespace
}  // namespace slipway::sys
