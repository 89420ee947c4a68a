#include "components/machine_config_operator/outdated_configs.h"

#include "machineconfig/labels.h"
#include "machineconfig/node_annotations.h"

#include <gtest/gtest.h>

namespace slipway::components::machine_config_operator {
namespace {

struct Cluster {
  // minute: minute of its creation time
  void put_rendered(const std::string& pool, int minute, bool is_generated = true) {
    Json config = {
        {"apiVersion", machineconfig::api_version},
        {"kind", "MachineConfig"},
        {"metadata", {{"name", name(pool, minute)}, {"creationTimestamp", fmt::format("2026-11-21T10:{:02}:00Z", minute)}}}};
    if (is_generated) {
      config.as_object()["metadata"].as_object()["annotations"] = JsonObject{{machineconfig::generated_by, "0.1.0"}};
    }
    view.put(std::move(config));
  }
  static std::string name(const std::string& pool, int minute) { return fmt::format("rendered-{}-{:032}", pool, 99 - minute); }

  void put_pool(const std::string& pool, const std::string& wanted, const std::string& reached) {
    view.put({{"apiVersion", machineconfig::api_version},
              {"kind", "MachineConfigPool"},
              {"metadata", {{"name", pool}}},
              {"spec", {{"configuration", {{"name", wanted}}}}},
              {"status", {{"configuration", {{"name", reached}}}}}});
  }
  void put_node(const std::string& node, const std::string& current, const std::string& desired) {
    view.put({{"apiVersion", "v1"},
              {"kind", "Node"},
              {"metadata",
               {{"name", node},
                {"annotations", {{machineconfig::current_config, current}, {machineconfig::desired_config, desired}}}}}});
  }
  std::vector<std::string> outdated() const { return outdated_configs(view.snapshot()); }

  View view;
};

TEST(OutdatedConfigs, TheTenNewestOfEachPoolAreKept) {
  Cluster cluster;
  for (int minute = 0; minute < 10; ++minute) cluster.put_rendered("worker", minute);
  cluster.put_rendered("worker-extra", 1);
  EXPECT_EQ(cluster.outdated(), std::vector<std::string>{});
  for (int minute = 10; minute < 13; ++minute) cluster.put_rendered("worker", minute);
  EXPECT_EQ(cluster.outdated(),
            (std::vector<std::string>{Cluster::name("worker", 2), Cluster::name("worker", 1), Cluster::name("worker", 0)}));
}

TEST(OutdatedConfigs, ConfigsOfPoolsAndNodesAreKept) {
  Cluster cluster;
  for (int minute = 0; minute < 16; ++minute) cluster.put_rendered("worker", minute);
  cluster.put_pool("worker", Cluster::name("worker", 0), Cluster::name("worker", 1));
  cluster.put_node("worker-0", Cluster::name("worker", 2), Cluster::name("worker", 3));
  EXPECT_EQ(cluster.outdated(), (std::vector<std::string>{Cluster::name("worker", 5), Cluster::name("worker", 4)}));
}

TEST(OutdatedConfigs, ThoseOfUsersAreNotTouched) {
  Cluster cluster;
  for (int minute = 0; minute < 12; ++minute) cluster.put_rendered("mine", minute, false);
  EXPECT_EQ(cluster.outdated(), std::vector<std::string>{});
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
