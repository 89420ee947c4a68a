#include "components/static_pod/revision.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

const Operand operand{
    .name = "etcd",
    .settings = kube::types::etcds,
    .operator_space = "openshift-etcd-operator",
    .space = "openshift-etcd",
    .pod = "etcd",
    .revisioned = {{Part::Kind::config_map, "etcd-pod"}, {Part::Kind::secret, "key"}, {Part::Kind::config_map, "more", true}},
    .unversioned = {{Part::Kind::secret, "certs"}}};

// The cluster, with a writer that does what plans require.
struct World {
  View view;
  Json settings{{"apiVersion", "operator.openshift.io/v1"},
                {"kind", "Etcd"},
                {"metadata", {{"name", "cluster"}}},
                {"spec", JsonObject()},
                {"status", JsonObject()}};

  void put(const kube::ResourceType& type, std::string_view name, JsonObject data, JsonObject more = {}) {
    JsonObject object{{"apiVersion", "v1"},
                      {"kind", type.kind},
                      {"metadata", {{"name", name}, {"namespace", operand.space}}},
                      {"data", std::move(data)}};
    for (const auto& [key, value] : more) object[key] = value;
    view.put(std::move(object));
  }
  void put_parts() {
    put(kube::types::config_maps, "etcd-pod", {{"pod.yaml", "kind: Pod"}});
    put(kube::types::secrets, "key", {{"tls.key", "c2VjcmV0"}}, {{"type", "kubernetes.io/tls"}});
  }
  RevisionState plan(bool may_begin = true) { return plan_revision(operand, settings, view.snapshot(), may_begin); }
  void act(const Plan& plan) {
    for (const DesiredObject& desired : plan.desired_objects) {
      if (desired.how == DesiredObject::How::remove) {
        view.remove(desired.type, kube::namespace_of(desired.object), kube::name_of(desired.object));
      } else {
        view.put(desired.object);
      }
    }
  }
  // Plans until there is nothing to do, and publishes the latest revision.
  RevisionState settle() {
    RevisionState state = plan();
    for (int i = 0; !state.plan.desired_objects.empty() && i < 5; ++i) {
      act(state.plan);
      state = plan();
    }
    EXPECT_TRUE(state.plan.desired_objects.empty());
    settings.at("status").as_object()["latestAvailableRevision"] = state.latest;
    return state;
  }
  const Json* find(const kube::ResourceType& type, std::string_view name) {
    const Snapshot snapshot = view.snapshot();
    last = snapshot;
    return last->find(type, operand.space, name);
  }
  std::vector<std::string> names(const kube::ResourceType& type) {
    last = view.snapshot();
    std::vector<std::string> names;
    for (const Json* object : last->list(type, operand.space)) names.emplace_back(kube::name_of(*object));
    return names;
  }
  std::optional<Snapshot> last;  // keeps alive what a test has read
};

std::vector<std::string> wished(const Plan& plan) {
  std::vector<std::string> names;
  for (const DesiredObject& desired : plan.desired_objects) names.push_back(kube::describe(desired.object));
  return names;
}

using Names = std::vector<std::string>;

TEST(Revision, WaitsForPartsThatAreNeeded) {
  World world;
  world.put(kube::types::config_maps, "etcd-pod", {{"pod.yaml", "kind: Pod"}});
  const RevisionState state = world.plan();
  EXPECT_EQ(state.latest, 0);
  EXPECT_EQ(state.missing, (Names{"Secret openshift-etcd/key"}));
  EXPECT_TRUE(state.plan.desired_objects.empty());
}

TEST(Revision, IsCopiesFirstAndThenTheMarker) {
  World world;
  world.put_parts();
  RevisionState state = world.plan();
  EXPECT_EQ(wished(state.plan), (Names{"ConfigMap openshift-etcd/etcd-pod-1", "Secret openshift-etcd/key-1"}));
  EXPECT_EQ(state.latest, 0);
  world.act(state.plan);
  state = world.plan();
  EXPECT_EQ(wished(state.plan), (Names{"ConfigMap openshift-etcd/revision-status-1"}));
  world.act(state.plan);
  state = world.plan();
  EXPECT_TRUE(state.plan.desired_objects.empty());
  EXPECT_EQ(state.latest, 1);
  EXPECT_EQ(state.reason, "first");
  const Json& copy = *world.find(kube::types::secrets, "key-1");
  EXPECT_EQ(copy.at("data"), (Json{{"tls.key", "c2VjcmV0"}}));
  EXPECT_EQ(copy.at("type"), "kubernetes.io/tls");
  const Result<Revision> marker = parse_revision(*world.find(kube::types::config_maps, "revision-status-1"));
  ASSERT_TRUE(marker.ok());
  EXPECT_EQ(marker.value().revisioned, (std::vector<Part>{operand.revisioned[0], operand.revisioned[1]}));
  EXPECT_EQ(marker.value().unversioned, operand.unversioned);
}

TEST(Revision, TakesPartsThatChangeBeforeItIsWhole) {
  World world;
  world.put_parts();
  world.act(world.plan().plan);
  world.put(kube::types::config_maps, "etcd-pod", {{"pod.yaml", "kind: Pod # other"}});
  EXPECT_EQ(wished(world.plan().plan), (Names{"ConfigMap openshift-etcd/etcd-pod-1"}));
  EXPECT_EQ(world.settle().latest, 1);
}

TEST(Revision, IsNotBegunWhilePartsAreOnTheirWay) {
  World world;
  world.put_parts();
  EXPECT_TRUE(world.plan(false).plan.desired_objects.empty());
  EXPECT_EQ(world.settle().latest, 1);
}

TEST(Revision, WaitsForTheTokenOfAnAccountAndCopiesItAsPlainSecret) {
  World world;
  world.put_parts();
  const JsonObject token{{"type", "kubernetes.io/service-account-token"}};
  world.put(kube::types::secrets, "key", {}, token);
  EXPECT_EQ(world.plan().missing, (Names{"Secret openshift-etcd/key"}));
  world.put(kube::types::secrets, "key", {{"token", "dA=="}}, token);
  EXPECT_EQ(world.settle().latest, 1);
  EXPECT_EQ(world.find(kube::types::secrets, "key-1")->at("type"), "Opaque");
}

TEST(Revision, FollowsAChangeWithItsReason) {
  const struct {
    std::string reason;
    std::function<void(World&)> change;
  } table[] = {
      {"ConfigMap etcd-pod changed",
       [](World& world) {
         world.put(kube::types::config_maps, "etcd-pod", {{"pod.yaml", "kind: Pod # other"}});
       }},
      {"ConfigMap etcd-pod changed; Secret key changed",
       [](World& world) {
         world.put(kube::types::config_maps, "etcd-pod", {{"pod.yaml", "kind: Pod"}, {"more", "text"}});
         world.put(kube::types::secrets, "key", {{"tls.key", "b3RoZXI="}}, {{"type", "kubernetes.io/tls"}});
       }},
      {"ConfigMap more is new",
       [](World& world) {
         world.put(kube::types::config_maps, "more", {{"a", "b"}});
       }},
      {"copy Secret key-1 was deleted", [](World& world) { world.view.remove(kube::types::secrets, operand.space, "key-1"); }},
      {"spec.forceRedeploymentReason: again",
       [](World& world) { world.settings.at("spec").as_object()["forceRedeploymentReason"] = "again"; }},
      {"revision 1 was deleted",
       [](World& world) { world.view.remove(kube::types::config_maps, operand.space, "revision-status-1"); }},
  };
  for (const auto& row : table) {
    World world;
    world.put_parts();
    world.settle();
    row.change(world);
    const RevisionState state = world.settle();
    EXPECT_EQ(state.latest, 2) << row.reason;
    EXPECT_EQ(state.reason, row.reason);
    // Only one new revision.
    EXPECT_EQ(world.settle().latest, 2) << row.reason;
  }
}

TEST(Revision, FollowsTheEndOfAnOptionalPart) {
  World world;
  world.put_parts();
  world.put(kube::types::config_maps, "more", {{"a", "b"}});
  world.settle();
  world.view.remove(kube::types::config_maps, operand.space, "more");
  EXPECT_EQ(world.settle().reason, "ConfigMap more was removed");
}

TEST(Revision, DoesNotFollowWhatIsNoData) {
  World world;
  world.put_parts();
  world.settle();
  world.put(kube::types::config_maps, "etcd-pod", {{"pod.yaml", "kind: Pod"}},
            {{"metadata",
              {{"name", "etcd-pod"}, {"namespace", operand.space}, {"resourceVersion", "9"}, {"annotations", {{"a", "b"}}}}}});
  world.put(kube::types::secrets, "certs", {{"tls.crt", "bmV3"}});
  EXPECT_EQ(world.settle().latest, 1);
}

TEST(Revision, StaysWhenAPartThatIsNeededGoes) {
  World world;
  world.put_parts();
  world.settle();
  world.view.remove(kube::types::secrets, operand.space, "key");
  const RevisionState state = world.plan();
  EXPECT_EQ(state.latest, 1);
  EXPECT_EQ(state.missing, (Names{"Secret openshift-etcd/key"}));
  EXPECT_TRUE(state.plan.desired_objects.empty());
}

TEST(Revision, IsRemovedWhenItIsOldAndNobodyHasIt) {
  World world;
  world.put_parts();
  world.settings.at("spec").as_object()["succeededRevisionLimit"] = 1;
  world.settings = with_node_statuses(world.settings, {{.node = "master-0", .current = 1}, {.node = "master-1", .target = 3}});
  for (int i = 1; i <= 6; ++i) {
    world.put(kube::types::config_maps, "etcd-pod", {{"pod.yaml", std::to_string(i)}});
    ASSERT_EQ(world.settle().latest, i);
  }
  // 6 is the latest, 1 and 3 are in use, 5 stays because of the limit.
  EXPECT_EQ(world.names(kube::types::secrets), (Names{"key", "key-1", "key-3", "key-5", "key-6"}));
  EXPECT_EQ(world.names(kube::types::config_maps),
            (Names{"etcd-pod", "etcd-pod-1", "etcd-pod-3", "etcd-pod-5", "etcd-pod-6", "revision-status-1", "revision-status-3",
                   "revision-status-5", "revision-status-6"}));
}

TEST(Revision, LeavesFiveOldOnesOrAsManyAsTheSettingsSay) {
  const struct {
    int limit;
    std::size_t markers;
  } table[] = {{0, 6}, {2, 3}, {-1, 9}};
  for (const auto& row : table) {
    World world;
    world.put_parts();
    world.settings.at("spec").as_object()["failedRevisionLimit"] = row.limit;
    for (int i = 1; i <= 9; ++i) {
      world.put(kube::types::config_maps, "etcd-pod", {{"pod.yaml", std::to_string(i)}});
      world.settle();
    }
    EXPECT_EQ(world.names(kube::types::secrets).size(), row.markers + 1) << row.limit;
  }
}

TEST(Revision, NeverUsesANumberTwice) {
  World world;
  world.put_parts();
  world.settings.at("status").as_object()["latestAvailableRevision"] = 7;
  world.put(kube::types::config_maps, "revision-status-9", {{"revision", "not readable"}});
  EXPECT_EQ(world.settle().latest, 10);
}

}  // namespace
}  // namespace slipway::components
