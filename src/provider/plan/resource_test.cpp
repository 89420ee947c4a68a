#include "provider/plan/resource.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>

namespace slipway::provider::plan {
namespace {

Resource resource(const std::string& name, std::vector<std::string> needs = {}, const std::string& machine = "") {
  return {.kind = "volume", .name = name, .machine = machine, .needs = std::move(needs)};
}

std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> all;
  for (const Resource& one : plan) all.push_back(one.name);
  return all;
}

std::vector<std::vector<std::string>> names(const std::vector<Plan>& groups) {
  std::vector<std::vector<std::string>> all;
  for (const Plan& group : groups) all.push_back(names(group));
  return all;
}

std::string message_of(const Plan& plan) {
  const Result<std::vector<Plan>> ordered = in_order(plan);
  if (ordered.ok()) return "";
  EXPECT_EQ(ordered.error().code(), Code::internal);
  return ordered.error().message();
}

using Groups = std::vector<std::vector<std::string>>;

TEST(PlanOrder, GroupsByNeedsAndKeepsTheOrderOfThePlan) {
  const Plan plan = {resource("machine", {"volume/disk", "volume/net"}), resource("net"), resource("disk", {"volume/base"}),
                     resource("log"), resource("base")};
  EXPECT_EQ(names(in_order(plan).value()), (Groups{{"net", "log", "base"}, {"disk"}, {"machine"}}));
}

TEST(PlanOrder, EmptyPlanHasNoGroups) { EXPECT_TRUE(in_order({}).value().empty()); }

TEST(PlanOrder, RepeatedNeedCountsOnce) {
  const Plan plan = {resource("a"), resource("b", {"volume/a", "volume/a"})};
  EXPECT_EQ(names(in_order(plan).value()), (Groups{{"a"}, {"b"}}));
}

TEST(PlanOrder, SameNameOfAnotherKindIsAnotherResource) {
  Plan plan = {resource("a"), resource("a")};
  EXPECT_EQ(message_of(plan), "plan of resources: volume/a: duplicate");
  plan[1].kind = "network";
  EXPECT_EQ(message_of(plan), "");
}

TEST(PlanOrder, NeedThatIsNotInThePlan) {
  EXPECT_EQ(message_of({resource("a", {"volume/b"})}), "plan of resources: volume/a: needs volume/b, which is not in the plan");
}

TEST(PlanOrder, CircleNamesItsResources) {
  EXPECT_EQ(message_of({resource("a"), resource("b", {"volume/c", "volume/a"}), resource("c", {"volume/b"})}),
            "plan of resources: circular dependency: volume/b, volume/c");
  EXPECT_EQ(message_of({resource("a", {"volume/a"})}), "plan of resources: circular dependency: volume/a");
}

TEST(PlanOrder, ManyResourcesTakeNoTime) {
  // A chain in the wrong order, and resources that need many others.
  constexpr int count = 500;
  Plan plan;
  for (int i = 0; i < count / 2; ++i) {
    plan.push_back(resource(fmt::format("chain-{}", i)));
    if (i + 1 < count / 2) plan.back().needs.push_back(fmt::format("volume/chain-{}", i + 1));
  }
  for (int i = 0; i < count / 2; ++i) {
    plan.push_back(resource(fmt::format("wide-{}", i), {}, fmt::format("machine-{}", i)));
    for (int k = 0; k < count / 2; ++k) plan.back().needs.push_back(fmt::format("volume/chain-{}", k));
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Plan> groups = in_order(plan).value();
  const Plan part = of_machines(plan, {"machine-7"});
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took, std::chrono::seconds(1));
  ASSERT_EQ(groups.size(), count / 2 + 1);
  EXPECT_EQ(groups.front().front().name, "chain-249");
  EXPECT_EQ(groups.back().size(), count / 2);
  EXPECT_EQ(part.size(), count / 2 + 1);
}

TEST(PlanOfMachines, HasTheirResourcesAndAllThatTheseNeed) {
  const Plan plan = {resource("net"),
                     resource("unused"),
                     resource("base"),
                     resource("disk-0", {"volume/base"}, "master-0"),
                     resource("disk-1", {"volume/base"}, "master-1"),
                     resource("machine-0", {"volume/disk-0", "volume/net"}, "master-0"),
                     resource("machine-1", {"volume/disk-1", "volume/net"}, "master-1")};
  EXPECT_EQ(names(of_machines(plan, {"master-1"})), (std::vector<std::string>{"net", "base", "disk-1", "machine-1"}));
  EXPECT_EQ(of_machines(plan, {"master-0", "master-1"}).size(), 6u);
  EXPECT_TRUE(of_machines(plan, {"master-10"}).empty());
  EXPECT_TRUE(of_machines(plan, {""}).empty());
}

}  // namespace
}  // namespace slipway::provider::plan
