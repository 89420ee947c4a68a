#include "components/storage/claims.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::storage {
namespace {

Json yaml(const std::string& text) { return parse_yaml(text, "test").value().value; }

const char* const claim_text =
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: shop, name: data, uid: u-1, managedFields: [{}], "
    "annotations: {volume.kubernetes.io/selected-node: worker-0, other: x}}, "
    "spec: {storageClassName: local, accessModes: [ReadWriteOnce], volumeMode: Filesystem, "
    "resources: {requests: {storage: 5Gi}}}, status: {phase: Pending}}";
const char* const class_text =
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: local.slipway.internal, "
    "reclaimPolicy: Delete, volumeBindingMode: WaitForFirstConsumer}";

Json claim_with(const std::string& field, const std::string& value) {
  Json claim = yaml(claim_text);
  claim.at("spec").as_object()[field] = yaml("v: " + value).at("v");
  return claim;
}

TEST(Claims, KeepsOnlyClaimsThatMayNeedAVolume) {
  const Json kept = reduce_claim(yaml(claim_text));
  EXPECT_EQ(find_object(kept, {"metadata", "annotations"}), (JsonObject{{"volume.kubernetes.io/selected-node", "worker-0"}}));
  EXPECT_EQ(find(kept, {"metadata", "managedFields"}), nullptr);
  EXPECT_EQ(class_of(kept), "local");
  EXPECT_EQ(volume_name(kept), "pvc-u-1");
  EXPECT_EQ(requested_bytes(kept), 5'368'709'120);
  Json bound = yaml(claim_text);
  bound.at("status").as_object()["phase"] = "Bound";
  EXPECT_TRUE(reduce_claim(bound).is_null());
  EXPECT_TRUE(reduce_claim(claim_with("volumeName", "pv")).is_null());
  Json leaving = yaml(claim_text);
  leaving.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_TRUE(reduce_claim(leaving).is_null());
}

TEST(Claims, KeepsOnlyItsOwnVolumesAndConfigMaps) {
  EXPECT_TRUE(reduce_volume(yaml("{metadata: {name: pv, annotations: {pv.kubernetes.io/provisioned-by: other}}}")).is_null());
  const Json own = yaml("{metadata: {name: pv, annotations: {pv.kubernetes.io/provisioned-by: local.slipway.internal}}}");
  EXPECT_FALSE(reduce_volume(own).is_null());
  EXPECT_TRUE(reduce_config_map(yaml("{metadata: {name: kube-root-ca.crt}}")).is_null());
  EXPECT_FALSE(reduce_config_map(yaml("{metadata: {name: state-worker-0}}")).is_null());
  const Json node =
      reduce_node(yaml("{kind: Node, metadata: {name: n, resourceVersion: '7', labels: {a: b, kubernetes.io/hostname: h}}}"));
  EXPECT_EQ(node, (Json{{"kind", "Node"}, {"metadata", {{"name", "n"}, {"labels", {{"kubernetes.io/hostname", "h"}}}}}}));
}

TEST(Claims, AcceptsAnUsualClaim) {
  EXPECT_EQ(problem_of(yaml(claim_text), yaml(class_text)), "");
  EXPECT_EQ(problem_of(claim_with("accessModes", "[ReadWriteOncePod]"), yaml(class_text)), "");
}

TEST(Claims, SaysWhatALocalVolumeCannotBe) {
  const auto problem = [](const std::string& field, const std::string& value) {
    return problem_of(claim_with(field, value), yaml(class_text));
  };
  EXPECT_TRUE(problem("volumeMode", "Block").starts_with("spec.volumeMode: ")) << problem("volumeMode", "Block");
  EXPECT_EQ(problem("accessModes", "[ReadWriteMany]"),
            "spec.accessModes: ReadWriteMany: a local volume is on one node (use ReadWriteOnce or ReadWriteOncePod)");
  EXPECT_NE(problem("selector", "{matchLabels: {a: b}}"), "");
  EXPECT_NE(problem("dataSource", "{kind: VolumeSnapshot, name: s}"), "");
  EXPECT_NE(problem("dataSourceRef", "{kind: PersistentVolumeClaim, name: s}"), "");
  EXPECT_NE(problem("volumeAttributesClassName", "fast"), "");
  EXPECT_NE(problem("resources", "{}"), "");
  Json odd = yaml(class_text);
  odd.as_object()["volumeBindingMode"] = "Immediate";
  odd.as_object()["parameters"] = JsonObject{{"path", "/"}};
  EXPECT_EQ(problem_of(yaml(claim_text), odd),
            "StorageClass local: parameters: local.slipway.internal has none; StorageClass local: volumeBindingMode: must be "
            "WaitForFirstConsumer, because only a pod decides which node a local volume is on");
}

TEST(Claims, MakesAVolumeOfTheNodeForTheClaim) {
  Json storage_class = yaml(class_text);
  storage_class.as_object()["mountOptions"] = JsonArray{"noatime"};
  const Json volume = make_volume(yaml(claim_text), storage_class, "worker-0", "host-0");
  EXPECT_EQ(kube::name_of(volume), "pvc-u-1");
  EXPECT_EQ(text_of(volume, {"spec", "local", "path"}), "/var/lib/slipway/volumes/pvc-u-1");
  EXPECT_EQ(find_object(volume, {"spec", "nodeAffinity"}),
            yaml("{required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, "
                 "values: [host-0]}]}]}}")
                .get_object());
  EXPECT_EQ(text_of(volume, {"spec", "claimRef", "uid"}), "u-1");
  EXPECT_EQ(text_of(volume, {"spec", "persistentVolumeReclaimPolicy"}), "Delete");
  EXPECT_EQ(find_array(volume, {"spec", "mountOptions"}), (JsonArray{"noatime"}));
  EXPECT_EQ(find_array(volume, {"metadata", "finalizers"}), (JsonArray{"slipway.internal/volume"}));
  EXPECT_EQ(volume_bytes(volume), 5'368'709'120);
  EXPECT_EQ(kube::describe(claim_of(volume)), "PersistentVolumeClaim shop/data");
  EXPECT_FALSE(reduce_volume(volume).is_null());
}

// A quantity in another form would differ from the stored one for ever.
TEST(Claims, WritesQuantitiesAsServersStoreThem) {
  EXPECT_EQ(to_quantity(0), "0");
  EXPECT_EQ(to_quantity(1'048'576), "1Mi");
  EXPECT_EQ(to_quantity(1'610'612'736), "1536Mi");
  EXPECT_EQ(to_quantity(5'368'709'120), "5Gi");
  EXPECT_EQ(to_quantity(3'000), "3000");
}

}  // namespace
}  // namespace slipway::components::storage
