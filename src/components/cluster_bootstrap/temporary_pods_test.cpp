#include "components/cluster_bootstrap/temporary_pods.h"

#include "components/render/manifest_files.h"

#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_bootstrap {
namespace {

class TemporaryPodsTest : public testing::Test {
 protected:
  TemporaryPodsTest() {
    put("/assets/auth/kubeconfig-loopback", "kubeconfig");
    put("/assets/tls/ca.crt", "ca");
    put("/assets/tls/ca.key", "key");
    put("/assets/bootstrap-manifests/kube-apiserver-pod.yaml", "api");
    put("/etc/kubernetes/manifests/etcd-member-pod.yaml", "etcd");
  }

  void put(const std::string& path, std::string_view text) { ASSERT_TRUE(files.write(path, text, 0644).ok()); }
  std::vector<std::string> placed() { return files_below(files, "/etc/kubernetes").value(); }
  TemporaryPods pods() { return {files, test_context.log, options}; }

  testing_support::MemoryFiles files;
  testing_support::TestContext test;
  sys::Context test_context = test.context();
  BootstrapOptions options{.asset_dir = "/assets", .pod_manifest_path = "/etc/kubernetes/manifests"};
};

const std::vector<std::string> all = {"bootstrap-secrets/ca.crt", "bootstrap-secrets/ca.key", "bootstrap-secrets/kubeconfig",
                                      "manifests/etcd-member-pod.yaml", "manifests/kube-apiserver-pod.yaml"};

TEST_F(TemporaryPodsTest, ArePlacedAndTakenAway) {
  ASSERT_TRUE(pods().place().ok());
  EXPECT_EQ(placed(), all);
  EXPECT_EQ(files.info("/etc/kubernetes/bootstrap-secrets/ca.key").value()->mode, 0600u);
  EXPECT_EQ(files.info("/etc/kubernetes/bootstrap-secrets").value()->mode, 0700u);
  ASSERT_TRUE(pods().remove_all().ok());
  EXPECT_EQ(placed(), std::vector<std::string>{"manifests/etcd-member-pod.yaml"});
  ASSERT_TRUE(pods().remove_all().ok()) << "again";
}

TEST_F(TemporaryPodsTest, AreReplacedAfterAKill) {
  ASSERT_TRUE(pods().place().ok());
  put("/assets/bootstrap-manifests/kube-apiserver-pod.yaml", "api, rendered again");
  put("/etc/kubernetes/bootstrap-secrets/old.crt", "of an earlier render");
  ASSERT_TRUE(pods().place().ok());
  EXPECT_EQ(placed(), all);
  EXPECT_EQ(files.read("/etc/kubernetes/manifests/kube-apiserver-pod.yaml").value(), "api, rendered again");
}

TEST_F(TemporaryPodsTest, LeaveTheApiServerForTheEnd) {
  put("/assets/bootstrap-manifests/kube-scheduler-pod.yaml", "scheduler");
  ASSERT_TRUE(pods().place().ok());
  ASSERT_TRUE(pods().remove_controllers().ok());
  EXPECT_EQ(placed(), all);
  ASSERT_TRUE(pods().place().ok());
  EXPECT_EQ(placed().size(), all.size() + 1) << "a start after a kill goes on with all of it";
  ASSERT_TRUE(pods().remove_controllers().ok());
  ASSERT_TRUE(pods().remove_all().ok());
  EXPECT_EQ(placed(), std::vector<std::string>{"manifests/etcd-member-pod.yaml"});
}

TEST_F(TemporaryPodsTest, LeaveTheFilesOfOthers) {
  put("/etc/kubernetes/manifests/kube-apiserver-pod.yaml", "of the user");
  EXPECT_EQ(pods().place().error().code(), Code::conflict);
  EXPECT_FALSE(files.info("/etc/kubernetes/bootstrap-secrets").value().has_value()) << "nothing is written before the check";
  ASSERT_TRUE(files.remove("/etc/kubernetes/manifests/kube-apiserver-pod.yaml").ok());
  ASSERT_TRUE(pods().place().ok());
  put("/etc/kubernetes/manifests/kube-apiserver-pod.yaml", "changed");
  ASSERT_TRUE(pods().remove_all().ok());
  EXPECT_EQ(files.read("/etc/kubernetes/manifests/kube-apiserver-pod.yaml").value(), "changed");
}

}  // namespace
}  // namespace slipway::components::cluster_bootstrap
