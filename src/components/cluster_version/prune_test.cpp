#include "components/cluster_version/prune.h"

#include "base/yaml.h"
#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_version {
namespace {

Json yaml(std::string_view text) { return parse_yaml(text, "x").value().value; }

struct PruneTest : testing::Test {
  PruneTest() { kube.serve_openshift(); }

  std::string prune_it(const Json& object) {
    kube::Mapper mapper(kube);
    const Result<std::optional<std::string>> kept = prune(test.context(), kube, mapper, object);
    EXPECT_TRUE(kept.ok()) << kept.error().message();
    return kept.ok() ? kept->value_or("") : "";
  }
  bool exists(const kube::ResourceType& type, const std::string& space, const std::string& name) {
    return kube.stored(type, space, name).has_value();
  }

  testing_support::FakeKube kube;
  testing_support::RealTimeContext test;
};

const std::string map_text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: old, namespace: openshift-x}}";
const std::string space_text = "{apiVersion: v1, kind: Namespace, metadata: {name: openshift-x}}";

TEST_F(PruneTest, AnObjectIsRemovedAndItsAbsenceIsNoError) {
  kube.put(yaml(space_text));
  kube.put(yaml(map_text));
  EXPECT_EQ(prune_it(yaml(map_text)), "");
  EXPECT_FALSE(exists(kube::types::config_maps, "openshift-x", "old"));
  EXPECT_EQ(prune_it(yaml(map_text)), "");
  EXPECT_EQ(prune_it(yaml("{apiVersion: gone.example.com/v1, kind: Gone, metadata: {name: a}}")), "") << "its type is gone, too";
}

TEST_F(PruneTest, ANamespaceIsKeptWhileItHasContent) {
  kube.put(yaml(space_text));
  kube.put(yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: openshift-x}}"));
  kube.put(yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: app, namespace: openshift-x}}"));
  EXPECT_EQ(prune_it(yaml(space_text)), "it contains Deployment app");
  EXPECT_TRUE(exists(kube::types::namespaces, "", "openshift-x"));
  ASSERT_TRUE(kube::remove(test.context(), kube, kube::types::deployments, "openshift-x", "app").ok());
  EXPECT_EQ(prune_it(yaml(space_text)), "");
  EXPECT_FALSE(exists(kube::types::namespaces, "", "openshift-x"));
}

TEST_F(PruneTest, ADefinitionIsKeptWhileItHasObjects) {
  const Json definition = yaml(
      "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}, "
      "spec: {group: example.com, scope: Cluster, names: {plural: gadgets, kind: Gadget}, "
      "versions: [{name: v1, served: true, storage: true}]}}");
  const kube::ResourceType gadgets{"example.com", "v1", "gadgets", "Gadget", false};
  ASSERT_TRUE(kube::create(test.context(), kube, kube::types::custom_resource_definitions, definition).ok());
  ASSERT_TRUE(
      kube::create(test.context(), kube, gadgets, yaml("{apiVersion: example.com/v1, kind: Gadget, metadata: {name: one}}"))
          .ok());
  EXPECT_EQ(prune_it(definition), "1 objects of this type exist, for example one");
  ASSERT_TRUE(kube::remove(test.context(), kube, gadgets, "", "one").ok());
  EXPECT_EQ(prune_it(definition), "");
  EXPECT_FALSE(exists(kube::types::custom_resource_definitions, "", "gadgets.example.com"));
  EXPECT_EQ(prune_it(definition), "");
}

}  // namespace
}  // namespace slipway::components::cluster_version
