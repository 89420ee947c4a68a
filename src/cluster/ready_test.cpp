#include "cluster/ready.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

Json node(std::string name, std::string ready) {
  return {{"metadata", {{"name", name}}}, {"status", {{"conditions", {{{"type", "Ready"}, {"status", ready}}}}}}};
}

TEST(MissingNodes, AreNamedWithTheReason) {
  const std::vector<std::string> expected = {"master-0", "master-1", "master-2"};
  EXPECT_EQ(missing_nodes({}, {"master-0"}), "master-0 has not registered");
  EXPECT_EQ(missing_nodes({node("master-0", "True"), node("master-1", "False")}, expected),
            "master-1 is not Ready, master-2 has not registered");
  EXPECT_EQ(
      missing_nodes({node("master-2", "True"), node("master-0", "True"), node("master-1", "True"), node("worker-0", "False")},
                    expected),
      std::nullopt);
}

}  // namespace
}  // namespace slipway::cluster
