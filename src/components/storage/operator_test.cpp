#include "components/storage/operator.h"

#include "support/workload_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::storage {
namespace {

using kube::types::storage_classes;

struct Cluster : testing_support::WorkloadCluster {
  Cluster() : WorkloadCluster(make_operator("openshift-config-operator")) {}

  // Writes what is wanted and missing, as reconcile() does.
  int play() {
    int count = 0;
    for (const DesiredObject& desired : desired_state().plan.desired_objects) {
      if (is_fulfilled(desired, view.snapshot())) continue;
      view.put(desired.object);
      ++count;
    }
    return count;
  }
  Condition condition(std::string_view type) const {
    const DesiredState state = desired_state();
    const auto found = std::ranges::find(state.conditions, type, &Condition::type);
    return found == state.conditions.end() ? Condition{} : *found;
  }
  std::string text(std::string_view name, std::initializer_list<std::string_view> keys) const {
    const Snapshot seen = view.snapshot();
    const Json* found = seen.find(storage_classes, "", name);
    return found ? text_of(*found, keys) : "none";
  }
  std::string is_default(std::string_view name) const {
    return text(name, {"metadata", "annotations", "storageclass.kubernetes.io/is-default-class"});
  }
};

TEST(StorageOperator, CreatesADefaultClassAndOneThatKeepsVolumes) {
  Cluster cluster;
  EXPECT_FALSE(cluster.condition("StorageAvailable").is_true);
  EXPECT_EQ(cluster.play(), 3);
  EXPECT_EQ(cluster.play(), 0);
  EXPECT_TRUE(cluster.condition("StorageAvailable").is_true);
  EXPECT_FALSE(cluster.condition("StorageProgressing").is_true);
  EXPECT_FALSE(cluster.condition("StorageDegraded").is_true);
  EXPECT_EQ(cluster.is_default("local"), "true");
  EXPECT_EQ(cluster.is_default("local-retain"), "");
  EXPECT_EQ(cluster.text("local", {"reclaimPolicy"}), "Delete");
  EXPECT_EQ(cluster.text("local-retain", {"reclaimPolicy"}), "Retain");
  EXPECT_EQ(cluster.text("local", {"volumeBindingMode"}), "WaitForFirstConsumer");
}

TEST(StorageOperator, LeavesTheDefaultClassToPeople) {
  Cluster cluster;
  cluster.put(
      "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, annotations: "
      "{storageclass.kubernetes.io/is-default-class: 'true'}}, provisioner: example.com/fast}");
  cluster.play();
  EXPECT_EQ(cluster.is_default("local"), "false");

  Cluster other;
  other.play();
  other.put(
      "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local, annotations: "
      "{storageclass.kubernetes.io/is-default-class: 'false'}}, provisioner: local.slipway.internal}");
  EXPECT_EQ(other.play(), 0);
}

TEST(StorageOperator, SaysThatAClassIsNotItsOwn) {
  Cluster cluster;
  cluster.play();
  cluster.put("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: rancher.io/local-path}");
  const Condition degraded = cluster.condition("StorageDegraded");
  EXPECT_TRUE(degraded.is_true);
  EXPECT_TRUE(degraded.message.starts_with("StorageClass local has provisioner rancher.io/local-path")) << degraded.message;
}

}  // namespace
}  // namespace slipway::components::storage
