// Runs the test suite of the real API on FakeKube, and tests functions that only the fake has.
#include "support/fake_kube.h"

#include "kube/conditions.h"
#include "support/kube_suite.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::testing_support {

kube::Api& api_under_test() {
  static FakeKube fake;
  return fake;
}

namespace {

using namespace kube;

Json node(const char* name) { return {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}}; }

TEST(FakeKube, CountsWritesOfOthersOnly) {
  TestContext test;
  FakeKube kube;
  kube.put(node("master-0"));
  EXPECT_EQ(kube.writes(), 0);
  ASSERT_TRUE(merge_patch(test.context(), kube, types::nodes, "", "master-0", {{"spec", {{"unschedulable", true}}}}).ok());
  ASSERT_TRUE(merge_patch(test.context(), kube, types::nodes, "", "master-0", {{"spec", {{"unschedulable", true}}}}).ok());
  EXPECT_FALSE(create(test.context(), kube, types::nodes, node("master-0")).ok());
  EXPECT_EQ(kube.writes(), 1);
  EXPECT_EQ(kube.requests().size(), 3u);
}

TEST(FakeKube, LetsATestPlayTheController) {
  TestContext test;
  FakeKube kube;
  kube.after_write = [&](const Json& written) {
    ASSERT_EQ(name_of(written), "master-0");
    ASSERT_TRUE(create(test.context(), kube, types::nodes, node("master-1")).ok());
  };
  ASSERT_TRUE(create(test.context(), kube, types::nodes, node("master-0")).ok());
  EXPECT_TRUE(kube.stored(types::nodes, "", "master-1").has_value());
}

TEST(FakeKube, ListsByPages) {
  TestContext test;
  FakeKube kube;
  for (int i = 0; i < 1001; ++i) kube.put(node(fmt::format("node-{:04}", i).c_str()));
  const auto all = list(test.context(), kube, types::nodes, "");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 1001u);
  EXPECT_EQ(name_of(all->back()), "node-1000");
  EXPECT_EQ(kube.requests().size(), 3u);
}

TEST(FakeKube, TypesMayWaitUntilTheyAreEstablished) {
  TestContext test;
  FakeKube kube;
  kube.establish_types = false;
  const ResourceType type{"late.example.com", "v1", "lates", "Late", false};
  const Json definition = sample_definition("late.example.com", "Late", "lates");
  ASSERT_TRUE(create(test.context(), kube, types::custom_resource_definitions, definition).ok());
  EXPECT_FALSE(list(test.context(), kube, type, "").ok());
  kube.establish("lates.late.example.com");
  EXPECT_TRUE(list(test.context(), kube, type, "").ok());
  EXPECT_EQ(condition_status(*kube.stored(types::custom_resource_definitions, "", "lates.late.example.com"), "Established"),
            "True");
}

}  // namespace

}  // namespace slipway::testing_support
