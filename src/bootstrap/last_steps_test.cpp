#include "bootstrap/last_steps.h"

#include "base/yaml.h"
#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <thread>

namespace slipway::bootstrap {
namespace {

using testing_support::FakeKube;
using testing_support::MemoryFiles;
using testing_support::RealTimeContext;
using testing_support::TestContext;

Json yaml(std::string_view text) { return parse_yaml(text, "x").value().value; }
Json etcd_says(std::string_view status) {
  return yaml(
      fmt::format("{{apiVersion: operator.openshift.io/v1, kind: Etcd, metadata: {{name: cluster}}, "
                  "status: {{conditions: [{{type: EtcdRunningInCluster, status: '{}'}}]}}}}",
                  status));
}

TEST(Overrides, ComeThroughAMoveOfTheAddress) {
  TestContext test;
  FakeKube kube;
  kube.serve_openshift();
  kube.put(
      yaml("{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, spec: {overrides: [{}]}}"));
  int failures = 5;
  kube.fail_request = [&](const kube::ApiRequest&) -> std::optional<Error> {
    if (failures-- <= 0) return {};
    return error(Code::unavailable, "connection reset");
  };
  const Json patch = yaml("{spec: {overrides: null}}");
  ASSERT_TRUE(restore_overrides(test.context(), kube, patch).ok());
  EXPECT_EQ(find(*kube.stored(kube::types::cluster_versions, "", "version"), {"spec", "overrides"}), nullptr);
  EXPECT_LT(test.clock.elapsed(), Seconds(2)) << "five failures";
  ASSERT_TRUE(restore_overrides(test.context(), kube, patch).ok()) << "again";
}

TEST(Overrides, AreNotTakenByWhoMayNot) {
  TestContext test;
  FakeKube kube;
  kube.fail_request = [](const kube::ApiRequest&) { return error(Code::denied, "you may not"); };
  EXPECT_EQ(restore_overrides(test.context(), kube, yaml("{spec: {}}")).error().code(), Code::denied);
}

TEST(EtcdInCluster, IsSeenByAWatch) {
  RealTimeContext test;
  FakeKube kube;
  kube.serve(kube::types::etcds);
  kube.put(etcd_says("False"));
  std::jthread operator_thread([&] {
    for (bool is_watched = false; !is_watched; std::this_thread::yield()) {
      for (const std::string& line : kube.requests()) is_watched = is_watched || line.starts_with("WATCH");
    }
    kube.end_watches(error(Code::unavailable, "connection reset"));
    kube.put(etcd_says("True"));
  });
  EXPECT_TRUE(wait_for_etcd_in_cluster(test.context(), kube).ok());
}

TEST(TemporaryControlPlane, LosesItsPodsOnly) {
  MemoryFiles files;
  for (const char* path :
       {"/opt/openshift/bootstrap-manifests/a.yaml", "/etc/kubernetes/manifests/a.yaml",
        "/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml", "/etc/kubernetes/manifests/etcd-member-pod.yaml"}) {
    ASSERT_TRUE(files.write(path, "x", 0600).ok());
  }
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(remove_temporary_control_plane(files, "/opt/openshift").ok());
    ASSERT_TRUE(stop_machine_config_server(files).ok());
    EXPECT_EQ(files.list("/etc/kubernetes/manifests").value(), std::vector<std::string>{"etcd-member-pod.yaml"});
  }
}

}  // namespace
}  // namespace slipway::bootstrap
