#include "agent/bootstrap_units.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

constexpr std::string_view shown = R"(Id=release-image.service
LoadState=loaded
ActiveState=active
Result=success
NRestarts=0

NRestarts=3
Id=bootkube.service
ActiveState=activating
Result=exit-code
)";

TEST(UnitStates, AreRead) {
  EXPECT_EQ(parse_unit_states(shown), (std::vector<UnitState>{{"release-image.service", "active", "success", 0, true},
                                                              {"bootkube.service", "activating", "exit-code", 3}}));
  EXPECT_TRUE(parse_unit_states("").empty());
  EXPECT_TRUE(parse_unit_states("ActiveState=active\n").empty());
}

struct Case {
  UnitState state;
  std::optional<FailedUnit> failed;
};

TEST(FailedUnit, IsFailedOrStartedTooOften) {
  const std::vector<Case> cases = {
      {{"release-image.service", "activating", "success", 0}, std::nullopt},
      {{"release-image.service", "failed", "exit-code", 0}, FailedUnit{"release-image.service", "exit-code"}},
      {{"bootkube.service", "activating", "exit-code", 11}, std::nullopt},
      {{"bootkube.service", "activating", "exit-code", 12}, FailedUnit{"bootkube.service", "exit-code, after 12 restarts"}},
      {{"kubelet.service", "active", "success", 59}, std::nullopt},
      {{"kubelet.service", "activating", "signal", 60}, FailedUnit{"kubelet.service", "signal, after 60 restarts"}},
      {{"progress.service", "inactive", "success", 0}, std::nullopt},
      {{"sshd.service", "failed", "exit-code", 0}, std::nullopt},  // not of the bootstrap
  };
  for (const Case& each : cases) EXPECT_EQ(find_failed_unit({each.state}), each.failed) << each.state.name << each.state.restarts;
  // The cause comes before what needs it.
  EXPECT_EQ(
      find_failed_unit({{"bootkube.service", "failed", "dependency", 0}, {"crio-configure.service", "failed", "exit-code", 0}})
          ->name,
      "crio-configure.service");
}

TEST(EndedUnit, IsInactiveAndSuccessful) {
  EXPECT_TRUE(has_ended({{"progress.service", "inactive", "success", 2}}, "progress.service"));
  EXPECT_FALSE(has_ended({{"progress.service", "active", "success", 0}}, "progress.service"));
  EXPECT_FALSE(has_ended({{"progress.service", "inactive", "exit-code", 0}}, "progress.service"));
  EXPECT_FALSE(has_ended({}, "progress.service"));
}

Json node(bool is_master, const char* ready) {
  JsonObject labels;
  if (is_master) labels["node-role.kubernetes.io/master"] = "";
  return {{"metadata", {{"labels", labels}}},
          {"status", {{"conditions", JsonArray{Json{{"type", "Ready"}, {"status", ready}}}}}}};
}

TEST(Masters, ThatAreReady) {
  EXPECT_EQ(count_ready_masters({node(true, "True"), node(true, "False"), node(false, "True"), node(true, "True")}), 2);
  EXPECT_EQ(count_ready_masters({}), 0);
}

TEST(ControllerReport, IsAnEvent) {
  EXPECT_TRUE(has_controller_report({Json{{"reason", "Scheduled"}}, Json{{"reason", "AssistedControllerIsReady"}}}));
  EXPECT_FALSE(has_controller_report({Json{{"reason", "Scheduled"}}}));
}

}  // namespace
}  // namespace slipway::agent
