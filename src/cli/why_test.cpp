#include "cli/cluster_commands.h"

#include "support/command_world.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

using WhyTest = testing_support::CommandTest;

TEST_F(WhyTest, AnObjectMustHaveItsForm) {
  const Result<> wrong = run({"why", "--dir", "/d", "pod/web-0"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message(), "'pod/web-0': not an object (use pod/NAMESPACE/NAME)");
}

TEST_F(WhyTest, WithoutAClusterItCannotLook) {
  const Result<> nothing = run({"why", "--dir", "/elsewhere"});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code(), Code::not_found);
  EXPECT_NE(nothing.error().message().find("no kubeconfig"), std::string::npos) << nothing.error().message();
}

}  // namespace
}  // namespace slipway::cli
