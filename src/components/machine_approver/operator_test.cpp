#include "components/machine_approver/operator.h"

#include <gtest/gtest.h>

namespace slipway::components::machine_approver {
namespace {

Json table(Json data) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", "machine-addresses"}, {"namespace", "openshift-config"}}},
          {"data", std::move(data)}};
}

std::vector<Condition> conditions_with(std::optional<Json> object) {
  View view;
  view.put(following_fact());
  if (object) view.put(std::move(*object));
  return make_operator().desired_state(view.snapshot(), {}).value().conditions;
}

TEST(MachineApprover, IsDegradedWhenItsTableCannotBeRead) {
  const std::vector<Condition> well = {
      {.type = "ApproverAvailable", .is_true = true}, {.type = "ApproverProgressing"}, {.type = "MachineTableDegraded"}};
  EXPECT_EQ(conditions_with(std::nullopt), well);
  EXPECT_EQ(conditions_with(table({{"machines", R"([{"name":"worker-0","role":"worker"}])"}})), well);
  const std::vector<Condition> broken = conditions_with(table({{"machines", "[{]"}}));
  ASSERT_EQ(broken.size(), 3u);
  EXPECT_TRUE(broken[2].is_true);
  EXPECT_EQ(broken[2].reason, "Unreadable");
  EXPECT_NE(broken[2].message.find("ConfigMap openshift-config/machine-addresses"), std::string::npos) << broken[2].message;
}

TEST(MachineApprover, IsAvailableWhenItFollowsTheCluster) {
  View view;
  const Condition before = make_operator().desired_state(view.snapshot(), {}).value().conditions.at(0);
  EXPECT_EQ(before.type, "ApproverAvailable");
  EXPECT_FALSE(before.is_true);
  EXPECT_EQ(before.reason, "NotFollowing");
  view.put(following_fact());
  EXPECT_TRUE(make_operator().desired_state(view.snapshot(), {}).value().conditions.at(0).is_true);
}

// Objects of other names in that namespace are not tables.
TEST(MachineApprover, WatchesItsTableAlone) {
  const WorkloadOperator work = make_operator();
  ASSERT_EQ(work.watched.size(), 1u);
  EXPECT_EQ(work.watched[0].space, "openshift-config");
  EXPECT_EQ(work.watched[0].selection.fields, "metadata.name=machine-addresses");
}

}  // namespace
}  // namespace slipway::components::machine_approver
