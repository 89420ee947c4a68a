#include "components/cluster_version/verification.h"

#include "base/yaml.h"
#include "support/release_signature.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_version {
namespace {

using testing_support::ReleaseKey;

Manifest manifest(const std::string& text) { return {"a.yaml", parse_yaml(text, "a.yaml").value().value}; }

TEST(TrustedKeys, AreThoseOfTheMarkedConfigMapOfTheRelease) {
  const std::vector<Manifest> manifests = {
      manifest("{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {verifier-public-key-x: pem}}"),
      manifest(
          "{apiVersion: v1, kind: ConfigMap, metadata: {name: keys, annotations: {release.openshift.io/verification-config-map: "
          "''}}, data: {verifier-public-key-release: one, verifier-public-key-next: two, store-a: 'https://x'}}")};
  EXPECT_EQ(trusted_keys(manifests),
            (std::vector<release::TrustedKey>{{.name = "release", .pem = "one"}, {.name = "next", .pem = "two"}}));
  EXPECT_TRUE(trusted_keys({manifests[0]}).empty());
}

TEST(StoredSignatures, AreThoseOfTheDigest) {
  View view;
  const release::Digest digest = release::Digest::of("a"), other = release::Digest::of("b");
  Json object = manifest("{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: openshift-config-managed}}").object;
  object.as_object()["binaryData"] = {{"sha256-" + digest.hex() + "-1", "b25l"},
                                      {"sha256-" + digest.hex() + "-2", "no base64!"},
                                      {"sha256-" + digest.hex() + "-3", "dGhyZWU="},
                                      {"sha256-" + other.hex() + "-1", "b3RoZXI="}};
  view.put(std::move(object));
  EXPECT_EQ(stored_signatures(view.snapshot(), digest), (std::vector<std::string>{"one", "three"}));
}

TEST(VerifyImage, WaitsUntilTheRegistryWasAsked) {
  const View view;
  const ReleaseKey key;
  const release::Digest digest = release::Digest::of("a");
  const std::vector<release::TrustedKey> keys = {key.trusted()};
  EXPECT_TRUE(verify_image("r/a", digest, keys, view.snapshot(), {}).is_open);
  EXPECT_TRUE(verify_image("r/a", digest, keys, view.snapshot(), {.image = "r/b"}).is_open);
  EXPECT_FALSE(verify_image("r/a", digest, keys, view.snapshot(), {.image = "r/a"}).is_open);
  const Verification verified =
      verify_image("r/a", digest, keys, view.snapshot(), {.image = "r/a", .envelopes = {key.sign(digest, "1.0.0")}});
  EXPECT_EQ(verified.verified, (release::Verified{.version = "1.0.0", .key = "test"}));
}

}  // namespace
}  // namespace slipway::components::cluster_version
