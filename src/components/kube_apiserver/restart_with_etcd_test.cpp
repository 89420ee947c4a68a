#include "components/kube_apiserver/restart_with_etcd.h"

#include "components/controller/operand.h"
#include "components/controller/view.h"

#include <gtest/gtest.h>

#include <vector>

namespace slipway::components::kube_apiserver {
namespace {

using namespace std::chrono_literals;

const WallTime start = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 9h;
constexpr const char* space = "openshift-kube-apiserver";

// Three masters whose API servers run revision 4 and must get revision 5, made at `start`.
struct World {
  World() {
    view.put(settings("KubeAPIServer", 5, {}, ""));
    view.put({{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata",
               {{"name", "revision-status-5"},
                {"namespace", space},
                {"creationTimestamp", to_rfc3339(std::chrono::floor<Seconds>(start))}}}});
    for (const char* node : {"master-0", "master-1", "master-2"}) pod(node, "True");
  }

  static Json settings(std::string_view kind, int latest, const std::vector<NodeStatus>& nodes, std::string_view version) {
    Json object{{"apiVersion", "operator.openshift.io/v1"},
                {"kind", kind},
                {"metadata", {{"name", "cluster"}}},
                {"spec", {{"managementState", "Managed"}}},
                {"status", {{"latestAvailableRevision", latest}, {"version", version}}}};
    return with_node_statuses(std::move(object), nodes);
  }
  void pod(const std::string& node, std::string_view ready) {
    view.put({{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", "kube-apiserver-" + node}, {"namespace", space}}},
              {"status", {{"conditions", JsonArray{{{"type", "Ready"}, {"status", ready}}}}}}});
  }
  void etcd(const std::vector<NodeStatus>& nodes, int latest = 8, std::string_view version = "4.2.0") {
    view.put(settings("Etcd", latest, nodes, version));
  }
  std::string why(const std::string& node) {
    const std::optional<Objection> objection = wait_for_etcd(view.snapshot(), node, "4.2.0", now);
    if (!objection) return "";
    EXPECT_EQ(objection->until, start + 10min);
    return objection->reason;
  }

  View view;
  WallTime now = start + 1min;
};

TEST(RestartWithEtcd, BothChangeMasterByMaster) {
  World world;
  world.etcd({{.node = "master-0", .current = 7}, {.node = "master-1", .current = 7}, {.node = "master-2", .current = 7}}, 7,
             "4.1.0");
  EXPECT_EQ(world.why("master-0"), "etcd has no revision of release 4.2.0 yet");

  world.etcd({{.node = "master-0", .current = 7}, {.node = "master-1", .current = 7}, {.node = "master-2", .current = 7}});
  EXPECT_EQ(world.why("master-0"), "it changes together with etcd on master-0");

  world.etcd(
      {{.node = "master-0", .current = 7}, {.node = "master-1", .current = 7, .target = 8}, {.node = "master-2", .current = 7}});
  EXPECT_EQ(world.why("master-0"), "etcd changes on master-1");
  EXPECT_EQ(world.why("master-1"), "");

  world.etcd({{.node = "master-0", .current = 7}, {.node = "master-1", .current = 8}, {.node = "master-2", .current = 7}});
  EXPECT_EQ(world.why("master-1"), "") << "etcd was faster";
}

TEST(RestartWithEtcd, ChangesAloneIfEtcdDoesNotChange) {
  World world;
  EXPECT_EQ(world.why("master-0"), "") << "there are no settings of etcd";
  world.etcd({{.node = "master-0", .current = 8}, {.node = "master-1", .current = 8}, {.node = "master-2", .current = 8}});
  for (const char* node : {"master-0", "master-1", "master-2"}) EXPECT_EQ(world.why(node), "");
}

TEST(RestartWithEtcd, DoesNotWaitForEverAndNotForAFailure) {
  World world;
  const std::vector<NodeStatus> before = {{.node = "master-0", .current = 7}, {.node = "master-1", .current = 7}};
  world.etcd(before);
  EXPECT_NE(world.why("master-0"), "");
  world.pod("master-0", "False");
  EXPECT_EQ(world.why("master-0"), "") << "it cannot get worse";
  world.pod("master-0", "True");
  world.now = start + 10min;
  EXPECT_EQ(world.why("master-0"), "");
  world.now = start;
  world.etcd({{.node = "master-0", .current = 7}, {.node = "master-1", .current = 7, .last_failed = 8}});
  EXPECT_EQ(world.why("master-0"), "") << "etcd's revision has failed";
  Json unmanaged = World::settings("Etcd", 8, before, "4.2.0");
  unmanaged.at("spec").as_object()["managementState"] = "Unmanaged";
  world.view.put(std::move(unmanaged));
  EXPECT_EQ(world.why("master-0"), "");
}

}  // namespace
}  // namespace slipway::components::kube_apiserver
