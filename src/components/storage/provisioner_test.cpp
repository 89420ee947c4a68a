#include "components/storage/provisioner.h"

#include "base/yaml.h"
#include "components/storage/claims.h"
#include "kube/node_volumes.h"
#include "support/delivered_view.h"
#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <chrono>

namespace slipway::components::storage {
namespace {

using namespace std::chrono_literals;
using kube::NodeStorage;
using kube::VolumeOrder;
using kube::VolumeOrders;
using kube::VolumeState;
using Kind = VolumeOrder::Kind;

constexpr std::int64_t gib = 1'073'741'824;
constexpr const char* volume = "pvc-u-data";

// Two workers, the operator, and what else acts in a cluster: `scheduler`, `binder` and `nodes` are steps of the tests.
class ProvisionerTest : public testing::Test {
 protected:
  ProvisionerTest() {
    for (const kube::ResourceType& type :
         {kube::types::storages, kube::types::volumes, kube::types::volume_claims, kube::types::storage_classes,
          kube::types::storage_capacities}) {
      kube.serve(type);
    }
    put("{apiVersion: operator.openshift.io/v1, kind: Storage, metadata: {name: cluster}, spec: {managementState: Managed}}");
    for (const char* policy : {"Delete", "Retain"}) {
      put(
          fmt::format("{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {}}}, provisioner: "
                      "local.slipway.internal, reclaimPolicy: {}, volumeBindingMode: WaitForFirstConsumer}}",
                      policy == std::string("Delete") ? "local" : "local-retain", policy));
    }
    for (const char* name : {"worker-0", "worker-1"}) {
      put_node(name);
      report(name, {.size = 100 * gib, .free = 60 * gib});
    }
  }

  void put(const std::string& text) { kube.put(parse_yaml(text, "x").value().value); }
  void put_node(const std::string& name) {
    const std::string labels = fmt::format("{{kubernetes.io/hostname: {}}}", name);
    put(fmt::format("{{apiVersion: v1, kind: Node, metadata: {{name: {}, labels: {}}}}}", name, labels));
  }
  void report(const std::string& node, const NodeStorage& storage) { kube.put(kube::storage_object(node, storage)); }
  NodeStorage reported(const std::string& node) const {
    return kube::parse_storage(*kube.stored(kube::types::config_maps, space, "state-" + node)).value();
  }
  void report(const std::string& node, const std::string& of, VolumeState state) {
    NodeStorage storage = reported(node);
    storage.volumes[of] = std::move(state);
    report(node, storage);
  }
  void put_claim(const std::string& node, const std::string& size = "10Gi", const std::string& name = "data",
                 const std::string& storage_class = "local", const std::string& more = "") {
    put(
        fmt::format("{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{namespace: shop, name: {}, uid: u-{}{}}}, spec: "
                    "{{storageClassName: {}, accessModes: [ReadWriteOnce]{}, resources: {{requests: {{storage: {}}}}}}}, "
                    "status: {{phase: Pending}}}}",
                    name, name,
                    node.empty() ? "" : ", annotations: {volume.kubernetes.io/selected-node: " + node + "}", storage_class, more,
                    size));
  }

  Plan plan() {
    testing_support::deliver(kube, Provisioner::watched(), view);
    return provisioner_->plan(view.snapshot(), test.clock.now()).value();
  }
  // Carries out one plan, as reconcile() does. Returns the notices: "REASON: MESSAGE".
  std::vector<std::string> round() {
    const Plan made = plan();
    for (const DesiredObject& desired : made.desired_objects) {
      const std::string of(space_of(desired)), name(kube::name_of(desired.object));
      const std::optional<Json> live = kube.stored(desired.type, of, name);
      if (is_fulfilled(desired, live ? &*live : nullptr)) continue;
      if (desired.how == DesiredObject::How::remove) {
        EXPECT_TRUE(kube::remove(test.context(), kube, desired.type, of, name).ok()) << name;
      } else {
        kube.put(desired.object);
      }
    }
    for (const Task& task : made.tasks) EXPECT_TRUE(task.run(test.context()).ok()) << task.name;
    std::vector<std::string> notices;
    for (const Notice& each : made.notices) notices.push_back(fmt::format("{}: {}", each.reason, each.message));
    return notices;
  }
  std::vector<std::string> settle() {
    std::vector<std::string> notices;
    for (int i = 0; i < 6; ++i) notices = round();
    return notices;
  }
  // Every node has done what is ordered.
  void nodes() {
    for (const char* name : {"worker-0", "worker-1"}) {
      NodeStorage storage = reported(name);
      storage.volumes.clear();
      for (const auto& [of, order] : orders(name)) {
        storage.volumes[of] = {order.kind == Kind::remove ? VolumeState::Kind::removed : VolumeState::Kind::ready};
      }
      report(name, storage);
    }
  }
  // Kubernetes binds a volume to its claim, and takes it back.
  void bind(const std::string& phase) {
    Json bound = *kube.stored(kube::types::volumes, "", volume);
    bound.as_object()["status"] = JsonObject{{"phase", phase}};
    kube.put(bound);
    if (phase == "Bound") {
      Json claim = *kube.stored(kube::types::volume_claims, "shop", "data");
      claim.as_object()["status"] = JsonObject{{"phase", phase}};
      kube.put(claim);
    } else {
      kube.drop(kube::types::volume_claims, "shop", "data");
    }
  }
  void provision(const std::string& storage_class = "local") {
    put_claim("worker-0", "10Gi", "data", storage_class);
    settle();
    nodes();
    settle();
    bind("Bound");
    settle();
    ASSERT_EQ(orders("worker-0").at(volume).kind, Kind::keep);
  }

  VolumeOrders orders(const std::string& node) const {
    const std::optional<Json> stored = kube.stored(kube::types::config_maps, space, "wanted-" + node);
    return stored ? kube::parse_orders(*stored).value() : VolumeOrders();
  }
  std::optional<Json> stored_volume() const { return kube.stored(kube::types::volumes, "", volume); }
  std::string selected(const std::string& name = "data") const {
    return text_of(*kube.stored(kube::types::volume_claims, "shop", name), {"metadata", "annotations", selected_node});
  }
  std::string capacity(const std::string& node) const {
    for (const Json& each : kube.stored_all(kube::types::storage_capacities)) {
      if (text_of(each, {"nodeTopology", "matchLabels", "kubernetes.io/hostname"}) == node &&
          text_of(each, {"storageClassName"}) == "local") {
        return text_of(each, {"capacity"});
      }
    }
    return "none";
  }
  void wait(Milliseconds time) { test.clock.wait(test.clock.steady() + time, {}, nullptr, 0); }

  const std::string space{kube::volumes_space};
  testing_support::TestContext test;
  testing_support::FakeKube kube;
  View view;
  std::unique_ptr<Provisioner> provisioner_ = std::make_unique<Provisioner>(kube, view);
};

using Texts = std::vector<std::string>;

TEST_F(ProvisionerTest, TellsTheSchedulerTheRoomOfEachNode) {
  settle();
  EXPECT_EQ(capacity("worker-0"), "60Gi") << "free now";
  report("worker-0", {.size = 50 * gib, .free = 60 * gib, .is_shared = true});
  settle();
  EXPECT_EQ(capacity("worker-0"), "40Gi") << "a fifth is a reserve";
  EXPECT_EQ(kube.stored_all(kube::types::storage_capacities).size(), 4u) << "of two classes on two nodes";
}

TEST_F(ProvisionerTest, AsksTheNodeBeforeThereIsAVolume) {
  put_claim("worker-0");
  EXPECT_EQ(settle(), Texts());
  EXPECT_EQ(orders("worker-0"), (VolumeOrders{{volume, {Kind::make, 10 * gib}}}));
  EXPECT_EQ(orders("worker-1"), VolumeOrders());
  EXPECT_FALSE(stored_volume());
  EXPECT_EQ(capacity("worker-0"), "60Gi");
  nodes();
  settle();
  ASSERT_TRUE(stored_volume());
  EXPECT_EQ(text_of(*stored_volume(), {"metadata", "annotations", kube::volume_node}), "worker-0");
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::keep);
  bind("Bound");
  EXPECT_EQ(settle(), Texts());
}

TEST_F(ProvisionerTest, CountsWhatIsRequested) {
  report("worker-0", {.size = 100 * gib, .free = 100 * gib});
  put_claim("worker-0", "40Gi", "one");
  put_claim("worker-0", "40Gi", "two");
  put_claim("worker-0", "40Gi", "three");
  const Texts notices = round();
  EXPECT_EQ(notices, Texts{"ProvisioningFailed: 43 GB requested, and node worker-0 has room for 16 GB"});
  EXPECT_EQ(orders("worker-0").size(), 2u);
  EXPECT_EQ((selected("one") == "") + (selected("two") == "") + (selected("three") == ""), 1) << "one is given back";
  settle();
  EXPECT_EQ(capacity("worker-0"), "15Gi");
}

TEST_F(ProvisionerTest, GivesTheClaimBackIfTheNodeRefuses) {
  put_claim("worker-0");
  settle();
  report("worker-0", volume, {VolumeState::Kind::refused, "the disk is full"});
  EXPECT_EQ(round(), Texts{"ProvisioningFailed: node worker-0: the disk is full"});
  EXPECT_EQ(selected(), "");
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::remove) << "whatever it has done is taken back";
  nodes();
  settle();
  EXPECT_EQ(orders("worker-0"), VolumeOrders());
  // The node still reports its last state: the scheduler may choose the node again, but not for this state.
  put_claim("worker-0");
  settle();
  EXPECT_EQ(orders("worker-0"), VolumeOrders());
  nodes();
  settle();
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::make);
}

TEST_F(ProvisionerTest, GivesTheClaimBackIfTheNodeIsSilent) {
  put_claim("worker-0");
  settle();
  wait(31s);
  const Texts notices = round();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_TRUE(notices[0].starts_with("ProvisioningFailed: node worker-0 does not change its volumes")) << notices[0];
  EXPECT_EQ(selected(), "worker-0");
  wait(90s);
  round();
  EXPECT_EQ(selected(), "");
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::remove);
}

TEST_F(ProvisionerTest, GivesTheClaimBackIfThereIsNoSuchNode) {
  put_claim("worker-9");
  EXPECT_EQ(round(), Texts{"ProvisioningFailed: node worker-9 does not exist"});
  EXPECT_EQ(selected(), "");
}

TEST_F(ProvisionerTest, SaysWhatAClaimCannotHave) {
  put_claim("worker-0", "10Gi", "data", "local", ", volumeMode: Block");
  EXPECT_EQ(settle(), Texts{"ProvisioningFailed: spec.volumeMode: a local volume is a folder (use Filesystem)"});
  EXPECT_EQ(selected(), "worker-0") << "no other node helps";
  put_claim("", "90Gi");
  EXPECT_EQ(settle(),
            Texts{"ProvisioningFailed: 97 GB requested, and no node has that much room: worker-0 has most, 64 GB"});
  put_claim("", "10Gi");
  EXPECT_EQ(settle(), Texts());
}

TEST_F(ProvisionerTest, IgnoresOtherClasses) {
  put_claim("worker-0", "10Gi", "data", "fast");
  EXPECT_EQ(settle(), Texts());
  EXPECT_EQ(orders("worker-0"), VolumeOrders());
}

TEST_F(ProvisionerTest, RemovesTheFolderBeforeTheVolume) {
  provision();
  bind("Released");
  settle();
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::remove);
  ASSERT_TRUE(stored_volume());
  EXPECT_FALSE(find(*stored_volume(), {"metadata", "deletionTimestamp"}));
  report("worker-0", volume, {VolumeState::Kind::removing, "a file system is mounted there"});
  EXPECT_EQ(round(), Texts{"VolumeFailedDelete: node worker-0: a file system is mounted there"});
  nodes();
  settle();
  EXPECT_FALSE(stored_volume());
  EXPECT_EQ(orders("worker-0"), VolumeOrders());
}

TEST_F(ProvisionerTest, KeepsTheFolderOfARetainedVolume) {
  provision("local-retain");
  bind("Released");
  settle();
  nodes();
  settle();
  ASSERT_TRUE(stored_volume());
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::keep);
  ASSERT_TRUE(kube::remove(test.context(), kube, kube::types::volumes, "", volume).ok());
  settle();
  EXPECT_FALSE(stored_volume());
  EXPECT_EQ(orders("worker-0"), VolumeOrders()) << "no order to remove it";
}

TEST_F(ProvisionerTest, RemovesARetainedVolumeWhoseUserChangesThePolicy) {
  provision("local-retain");
  bind("Released");
  Json changed = *stored_volume();
  changed.at("spec").as_object()["persistentVolumeReclaimPolicy"] = "Delete";
  kube.put(changed);
  settle();
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::remove);
}

TEST_F(ProvisionerTest, WaitsWhileAVolumeThatIsBeingDeletedHasAClaim) {
  provision();
  Json deleted = *stored_volume();
  deleted.at("metadata").as_object()["finalizers"] = JsonArray{"kubernetes.io/pv-protection", "slipway.internal/volume"};
  kube.put(deleted);
  ASSERT_TRUE(kube::remove(test.context(), kube, kube::types::volumes, "", volume).ok());
  settle();
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::keep);
}

TEST_F(ProvisionerTest, RemovesTheFolderOfAClaimThatGoesBeforeItsVolume) {
  put_claim("worker-0");
  settle();
  kube.drop(kube::types::volume_claims, "shop", "data");
  settle();
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::remove);
  nodes();
  settle();
  EXPECT_EQ(orders("worker-0"), VolumeOrders());
  EXPECT_FALSE(stored_volume());
}

// For example, after a restore of etcd from a backup that does not have it.
TEST_F(ProvisionerTest, LosesTheOrderButNotTheFolderOfALostVolume) {
  provision();
  kube.drop(kube::types::volumes, "", volume);
  settle();
  EXPECT_EQ(orders("worker-0"), VolumeOrders());
  NodeStorage storage = reported("worker-0");
  storage.volumes.clear();
  storage.unclaimed = {volume};
  report("worker-0", storage);
  const Texts notices = settle();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_TRUE(notices[0].starts_with("UnclaimedVolumes: no PersistentVolume has these folders")) << notices[0];
}

TEST_F(ProvisionerTest, WritesLostOrdersAgain) {
  provision();
  kube.drop(kube::types::config_maps, space, "wanted-worker-0");
  settle();
  EXPECT_EQ(orders("worker-0"), (VolumeOrders{{volume, {Kind::keep, 10 * gib}}}));
}

TEST_F(ProvisionerTest, ReportsAVolumeWithoutItsFolder) {
  provision();
  report("worker-0", volume, {VolumeState::Kind::missing});
  const Texts notices = settle();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_TRUE(notices[0].starts_with("VolumeMissing: node worker-0 has no folder /var/lib/slipway/volumes/pvc-u-data"))
      << notices[0];
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::keep) << "an empty folder would hide the loss";
}

TEST_F(ProvisionerTest, ANodeThatIsAwayForAMomentLosesNothing) {
  provision();
  bind("Released");
  kube.drop(kube::types::nodes, "", "worker-0");
  settle();
  wait(2min);
  settle();
  EXPECT_TRUE(stored_volume());
  EXPECT_EQ(orders("worker-0").size(), 1u);
  put_node("worker-0");
  settle();
  nodes();
  settle();
  EXPECT_FALSE(stored_volume());
}

TEST_F(ProvisionerTest, ARemovedNodeTakesItsReleasedVolumesAlong) {
  provision();
  bind("Released");
  kube.drop(kube::types::nodes, "", "worker-0");
  settle();
  wait(6min);
  settle();
  EXPECT_FALSE(stored_volume());
  EXPECT_FALSE(kube.stored(kube::types::config_maps, space, "wanted-worker-0"));
  EXPECT_FALSE(kube.stored(kube::types::config_maps, space, "state-worker-0"));
  EXPECT_EQ(capacity("worker-0"), "none");
}

TEST_F(ProvisionerTest, SaysThatAClaimsNodeWasRemoved) {
  provision();
  kube.drop(kube::types::nodes, "", "worker-0");
  settle();
  wait(6min);
  const Texts notices = settle();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_TRUE(notices[0].starts_with("VolumeNodeRemoved: the volume is on node worker-0")) << notices[0];
  EXPECT_TRUE(stored_volume()) << "the machine may come back";
  put_node("worker-0");
  report("worker-0", {.size = 100 * gib, .free = 60 * gib});
  EXPECT_EQ(settle(), Texts());
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::keep);
}

// A worker may be in the hands of an attacker.
TEST_F(ProvisionerTest, AReportOnlyConcernsItsNode) {
  provision();
  report("worker-1", volume, {VolumeState::Kind::removed});
  bind("Released");
  settle();
  EXPECT_TRUE(stored_volume()) << "worker-1 says that a volume of worker-0 is removed";
  Json broken = kube::storage_object("worker-1", {});
  broken.at("data").as_object()["state"] = R"({"volumes":{"../../etc":{"state":"ready"}}})";
  kube.put(broken);
  const Texts notices = settle();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_TRUE(notices[0].starts_with("Unreadable: ")) << notices[0];
  EXPECT_EQ(capacity("worker-1"), "none");
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::remove);
}

TEST_F(ProvisionerTest, DoesNothingIfUnmanaged) {
  put("{apiVersion: operator.openshift.io/v1, kind: Storage, metadata: {name: cluster}, spec: {managementState: Unmanaged}}");
  put_claim("worker-0");
  const Plan made = plan();
  EXPECT_TRUE(made.desired_objects.empty());
  EXPECT_TRUE(made.tasks.empty());
}

// Another leader has only the objects.
TEST_F(ProvisionerTest, AnotherProcessContinuesAtEachStep) {
  const auto restart = [&] { provisioner_ = std::make_unique<Provisioner>(kube, view); };
  put_claim("worker-0");
  round();
  restart();
  round();
  nodes();
  restart();
  round();
  restart();
  round();
  bind("Bound");
  restart();
  round();
  EXPECT_EQ(orders("worker-0").at(volume).kind, Kind::keep);
  bind("Released");
  round();
  restart();
  nodes();
  for (int i = 0; i < 4; ++i) {
    restart();
    round();
  }
  EXPECT_FALSE(stored_volume());
  EXPECT_EQ(orders("worker-0"), VolumeOrders());
}

}  // namespace
}  // namespace slipway::components::storage
