#include "components/cluster_bootstrap/handover.h"

#include "base/guarded.h"
#include "base/yaml.h"
#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <thread>

namespace slipway::components::cluster_bootstrap {
namespace {

using testing_support::FakeKube;
using testing_support::RealTimeContext;

const kube::ResourceType revisioned[] = {
    kube::types::kube_apiservers,
    kube::types::kube_controller_managers,
    kube::types::kube_schedulers,
};

Json yaml(std::string_view text) { return parse_yaml(text, "x").value().value; }

class HandOverTest : public testing::Test {
 protected:
  HandOverTest() {
    kube.serve(kube::types::etcds);
    for (const kube::ResourceType& type : revisioned) kube.serve(type);
    options.required_pods = parse_required_pods("openshift-kube-apiserver/kube-apiserver").value();
    options.create_limit = Seconds(20);
  }
  ~HandOverTest() override {
    test.stop.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  void start(int needed_masters) {
    thread_ = std::jthread([this, needed_masters] {
      result =
          run_handover(test.context(), {.api = kube,
                                        .api_afterwards = masters,
                                        .options = options,
                                        .manifests = {{"a.yaml", yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")}},
                                        .needed_masters = needed_masters,
                                        .tear_down = [this](kube::Api& api) -> Result<> {
                                          EXPECT_EQ(&api, &kube) << "the API server of this machine";
                                          had_finished = has_event("bootstrap-finished");
                                          is_torn_down = true;
                                          return Ok{};
                                        }});
    });
  }
  void join() { thread_.join(); }

  bool has_event(const std::string& name) { return kube.stored(kube::types::events, "kube-system", name).has_value(); }
  void make_pod_ready() {
    kube.put(
        yaml("{apiVersion: v1, kind: Pod, metadata: {name: kube-apiserver-m0, namespace: openshift-kube-apiserver}, "
             "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}"));
  }
  void make_revisions(const kube::ResourceType& type, int second) {
    Json object =
        yaml(fmt::format("{{metadata: {{name: cluster}}, status: {{nodeStatuses: [{{nodeName: a, currentRevision: 1}}, "
                         "{{nodeName: b, currentRevision: {}}}]}}}}",
                         second));
    object.as_object()["apiVersion"] = type.api_version();
    object.as_object()["kind"] = type.kind;
    kube.put(object);
  }
  void tell_of_etcd(const char* status) {
    kube.put(
        yaml(fmt::format("{{apiVersion: operator.openshift.io/v1, kind: Etcd, metadata: {{name: cluster}}, "
                         "status: {{conditions: [{{type: EtcdRunningInCluster, status: '{}'}}]}}}}",
                         status)));
  }
  // Waits until a watch of this type has started.
  void wait_for_watch(const std::string& plural) {
    while (true) {
      for (const std::string& line : kube.requests()) {
        if (line.starts_with("WATCH") && line.find("/" + plural + "?") != std::string::npos) return;
      }
      std::this_thread::yield();
    }
  }

  FakeKube kube, masters;
  RealTimeContext test;
  BootstrapOptions options{.asset_dir = "/assets", .pod_manifest_path = "/etc/kubernetes/manifests", .tear_down_early = false};
  Result<> result = Ok{};
  std::atomic<bool> is_torn_down = false, had_finished = false;

 private:
  std::jthread thread_;
};

TEST_F(HandOverTest, WaitsForTwoMastersAndForEtcd) {
  start(2);
  make_pod_ready();
  for (const kube::ResourceType& type : revisioned) make_revisions(type, 1);
  tell_of_etcd("False");
  wait_for_watch("etcds");
  EXPECT_FALSE(has_event("bootstrap-success"));
  EXPECT_FALSE(is_torn_down);
  tell_of_etcd("True");
  join();
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_TRUE(has_event("bootstrap-success"));
  EXPECT_TRUE(is_torn_down);
  EXPECT_TRUE(had_finished) << "the followers are informed before the API server ends";
  EXPECT_TRUE(kube.stored(kube::types::config_maps, "default", "a"));
}

TEST_F(HandOverTest, OneMasterIsNotEnough) {
  start(2);
  make_pod_ready();
  tell_of_etcd("True");
  for (const kube::ResourceType& type : revisioned) make_revisions(type, type.plural == "kubeschedulers" ? 0 : 1);
  wait_for_watch("kubeschedulers");
  EXPECT_FALSE(has_event("bootstrap-success"));
  make_revisions(revisioned[2], 1);
  join();
  EXPECT_TRUE(result.ok()) << result.error().message();
}

// The second entry of the tests' objects is a machine that never gets its revision.
TEST_F(HandOverTest, OneMasterIsEnoughWhereThereIsOneOnly) {
  start(1);
  make_pod_ready();
  for (const kube::ResourceType& type : revisioned) make_revisions(type, 0);
  tell_of_etcd("False");
  wait_for_watch("etcds");
  EXPECT_FALSE(has_event("bootstrap-success")) << "etcd would be left with a member of two";
  tell_of_etcd("True");
  join();
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_TRUE(is_torn_down);
}

TEST(Handover, NeedsAsManyMastersAsServeWhileOneGoesAway) {
  struct Case {
    int masters;
    bool in_place;
    int needed;
  };
  for (const Case& it : {Case{1, false, 1}, Case{1, true, 0}, Case{2, false, 2}, Case{3, false, 2}, Case{5, false, 2}}) {
    InstallConfig config;
    config.control_plane_replicas = it.masters;
    config.bootstrap_in_place = it.in_place;
    EXPECT_EQ(needed_masters(config), it.needed) << it.masters;
  }
}

TEST_F(HandOverTest, AMachineThatBecomesTheControlPlaneWaitsForItsPodsOnly) {
  start(0);
  wait_for_watch("pods");
  EXPECT_FALSE(has_event("bootstrap-success"));
  make_pod_ready();
  join();
  EXPECT_TRUE(result.ok()) << result.error().message();
  EXPECT_TRUE(is_torn_down);
}

TEST_F(HandOverTest, AStartAfterAKillFindsItsEvents) {
  make_pod_ready();
  start(0);
  join();
  ASSERT_TRUE(result.ok()) << result.error().message();
  is_torn_down = false;
  start(0);
  join();
  EXPECT_TRUE(result.ok()) << result.error().message();
  EXPECT_TRUE(is_torn_down);
}

}  // namespace
}  // namespace slipway::components::cluster_bootstrap
