#include "cluster/planned_nodes.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

TEST(PlannedNodes, LeaveOutTheBootstrapMachine) {
  const auto nodes = planned_nodes({{"bootstrap", "bootstrap", "10.97.77.10"}, {"master-0", "master", "10.97.77.11"}});
  EXPECT_EQ(nodes, (kube::MachineTable{{"master-0", "master", {"10.97.77.11"}}}));
}

TEST(MachineTroubles, AreTheMachinesOwnWords) {
  const std::vector<provider::MachineStatus> machines = {
      {.name = "master-0", .state = "running"},
      {.name = "worker-0", .state = "igniting", .reason = "waiting for its Ignition config: Internal Server Error"},
      {.name = "worker-1", .state = "failed", .reason = "init ended with status 1"}};
  EXPECT_EQ(machine_problems(machines, {"worker-0"}),
            "worker-0 is igniting: waiting for its Ignition config: Internal Server Error");
  EXPECT_EQ(machine_problems(machines, {}),
            "worker-0 is igniting: waiting for its Ignition config: Internal Server Error; "
            "worker-1 is failed: init ended with status 1");
  EXPECT_EQ(machine_problems(machines, {"master-0"}), "");
}

}  // namespace
}  // namespace slipway::cluster
