#include "components/controller/masters.h"

#include "components/controller/operand.h"
#include "kube/machine_table.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

using Names = std::vector<std::string>;

struct World {
  World() {
    for (const char* name : {"master-0", "master-1", "worker-0"}) node(name, std::string_view(name).substr(0, 6));
  }
  void node(const std::string& name, std::string_view role) {
    view.put({{"apiVersion", "v1"},
              {"kind", "Node"},
              {"metadata", {{"name", name}, {"labels", {{fmt::format("node-role.kubernetes.io/{}", role), ""}}}}}});
  }
  void table(std::string machines) {
    view.put({{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", "machine-addresses"}, {"namespace", "openshift-config"}}},
              {"data", {{"machines", std::move(machines)}}}});
  }
  void table(const kube::MachineTable& rows) { table(kube::format_machine_table(rows)); }
  void runs(const std::string& name, int revision) {
    std::vector<NodeStatus> statuses = parse_node_statuses(settings);
    statuses.push_back({.node = name, .current = revision});
    settings = with_node_statuses(settings, statuses);
  }
  Names masters() {
    const Masters found = find_masters(view.snapshot(), settings);
    Names names;
    for (const Json* node : found.nodes) names.emplace_back(kube::name_of(*node));
    conditions = found.conditions;
    return names;
  }
  const Condition& condition(std::string_view type) const { return *std::ranges::find(conditions, type, &Condition::type); }

  View view;
  Json settings = JsonObject{{"metadata", {{"name", "cluster"}}}};
  std::vector<Condition> conditions;
};

const kube::MachineTable rows = {{"master-0", "master", {}}, {"master-1", "master", {}}, {"worker-0", "worker", {}}};

TEST(Masters, HaveTheLabelAndARow) {
  World world;
  world.table(rows);
  EXPECT_EQ(world.masters(), (Names{"master-0", "master-1"}));
  EXPECT_EQ(world.condition("MachineTableDegraded"), Condition{"MachineTableDegraded"});
  EXPECT_EQ(world.condition("MastersUnconfirmed"), Condition{"MastersUnconfirmed"});
}

TEST(Masters, ARowWithoutTheLabelIsNotEnough) {
  World world;
  world.table({{"master-0", "master", {}}, {"worker-0", "master", {}}});
  world.runs("master-1", 1);
  EXPECT_EQ(world.masters(), (Names{"master-0", "master-1"}));
}

TEST(Masters, AWorkerThatLabelsItselfIsRefused) {
  World world;
  world.table(rows);
  world.node("worker-0", "master");
  EXPECT_EQ(world.masters(), (Names{"master-0", "master-1"}));
  EXPECT_EQ(world.condition("MachineTableDegraded").reason, "LabelWithoutRow");
  EXPECT_EQ(world.condition("MachineTableDegraded").message,
            "node worker-0: is not a master in ConfigMap openshift-config/machine-addresses, but has label "
            "node-role.kubernetes.io/master; gets no control plane (remove the label)");
  // A revision that such a node ran does not help either.
  world.runs("worker-0", 3);
  EXPECT_EQ(world.masters(), (Names{"master-0", "master-1"}));
}

TEST(Masters, ANodeOfNoRowIsRefusedUnlessItRunsTheControlPlane) {
  World world;
  world.table({{"master-0", "master", {}}});
  EXPECT_EQ(world.masters(), Names{"master-0"});
  world.runs("master-1", 0);
  EXPECT_EQ(world.masters(), Names{"master-0"});
  world.settings = JsonObject{};
  world.runs("master-1", 2);
  EXPECT_EQ(world.masters(), (Names{"master-0", "master-1"}));
  EXPECT_FALSE(world.condition("MachineTableDegraded").is_true);
  EXPECT_EQ(world.condition("MastersUnconfirmed").reason, "NoRow");
  EXPECT_EQ(world.condition("MastersUnconfirmed").message,
            "node master-1: no row in ConfigMap openshift-config/machine-addresses, the label decides (add the row; if there is "
            "no table, run slipway repair)");
}

TEST(Masters, AMachineThatLeavesIsNone) {
  World world;
  world.table({{"master-0", "master", {}}, {"master-1", "removed", {}}});
  world.runs("master-1", 2);
  EXPECT_EQ(world.masters(), Names{"master-0"});
  EXPECT_FALSE(world.condition("MachineTableDegraded").is_true);
  EXPECT_FALSE(world.condition("MastersUnconfirmed").is_true);
}

TEST(Masters, WithoutATableLabelsDecide) {
  World world;
  EXPECT_EQ(world.masters(), (Names{"master-0", "master-1"}));
  EXPECT_EQ(world.condition("MastersUnconfirmed").reason, "NoTable");
  EXPECT_FALSE(world.condition("MachineTableDegraded").is_true);
  // A table with workers only does not define the masters either.
  world.table({{"worker-0", "worker", {}}});
  EXPECT_EQ(world.masters(), (Names{"master-0", "master-1"}));
  EXPECT_EQ(world.condition("MastersUnconfirmed").reason, "NoTable");
}

TEST(Masters, ABrokenTableAddsNone) {
  World world;
  world.table("[{");
  world.runs("master-0", 1);
  EXPECT_EQ(world.masters(), Names{"master-0"});
  EXPECT_EQ(world.condition("MachineTableDegraded").reason, "TableUnreadable");
}

}  // namespace
}  // namespace slipway::components
