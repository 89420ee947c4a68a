#include "release/signature.h"

#include "net/curl_http.h"
#include "release/mirror.h"
#include "release/oci_layout.h"
#include "release/registry_client.h"
#include "release/release_archive.h"
#include "support/fake_registry.h"
#include "support/release_signature.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

using testing_support::FakeRegistry;
using testing_support::ReleaseKey;
using testing_support::SampleRelease;
using testing_support::TestContext;

const Digest digest = Digest::of("a release"), other = Digest::of("another release");

TEST(VerifyRelease, OnlyASignatureOfATrustedKeyForThisReleaseCounts) {
  const ReleaseKey key, next, foreign;
  const std::string good = key.sign(digest, "0.1.1");
  std::string changed = good;
  changed.replace(changed.find("\"sig\":\"") + 7, 4, changed.substr(changed.find("\"sig\":\"") + 11, 4));
  const std::string moved =
      key.envelope(signed_text_type, R"({"digest":")" + digest.text() + R"(","identity":"other","version":"1"})");
  struct Case {
    const char* what;
    std::vector<std::string> envelopes;
    std::vector<TrustedKey> keys;
    const char* refusal;  // empty: verified
  };
  const std::vector<Case> cases = {
      {"good", {good}, {key.trusted()}, ""},
      {"the next key is trusted, too", {good}, {next.trusted("next"), key.trusted()}, ""},
      {"a good one after a foreign one", {foreign.sign(digest, "0.1.1"), good}, {key.trusted()}, ""},
      {"none", {}, {key.trusted()}, "no signature found"},
      {"foreign key", {foreign.sign(digest, "0.1.1")}, {key.trusted("release")}, "not signed by a trusted key (release)"},
      {"another release", {key.sign(other, "0.1.1")}, {key.trusted()}, "it is the signature of"},
      {"another identity", {moved}, {key.trusted()}, "it signs 'other'"},
      {"another type", {key.envelope("text/plain", "{}")}, {key.trusted()}, "payloadType is 'text/plain'"},
      {"changed signature", {changed}, {key.trusted()}, "not signed by a trusted key"},
      {"no JSON", {"x"}, {key.trusted()}, "the signature"},
      {"no base64",
       {R"({"payloadType":"application/vnd.slipway.release.v1+json","payload":"*","signatures":[]})"},
       {key.trusted()},
       "base64"},
      {"no signature in it",
       {R"({"payloadType":"application/vnd.slipway.release.v1+json","payload":"e30=","signatures":[]})"},
       {key.trusted()},
       "not signed by a trusted key"},
      {"no keys", {good}, {}, "not signed by a trusted key ()"},
  };
  for (const Case& c : cases) {
    const Result<Verified> verified = verify_release(c.envelopes, digest, c.keys);
    EXPECT_EQ(verified.ok(), std::string_view(c.refusal).empty()) << c.what;
    if (verified.ok()) {
      EXPECT_EQ(verified->version, "0.1.1") << c.what;
    } else {
      EXPECT_EQ(verified.error().code(), Code::denied) << c.what;
      EXPECT_NE(verified.error().message().find(c.refusal), std::string::npos) << c.what << ": " << verified.error().message();
    }
  }
}

TEST(SignatureTag, NamesTheDigest) {
  EXPECT_EQ(signature_tag(digest), "sha256-" + digest.hex() + ".sig");
  EXPECT_TRUE(is_signature_tag(signature_tag(digest)));
  for (const char* text : {"etcd", "sha256-.sig", "sha256-abc.sig", "release"}) EXPECT_FALSE(is_signature_tag(text)) << text;
}

struct SignedRelease {
  SignedRelease() {
    const std::string layer = sample.add(envelope);
    const std::string config = sample.add("{}");
    const std::string manifest = sample.add_manifest(SampleRelease::manifest_type,
                                                     {{"schemaVersion", 2},
                                                      {"mediaType", SampleRelease::manifest_type},
                                                      {"config", sample.descriptor("application/vnd.oci.empty.v1+json", config)},
                                                      {"layers", JsonArray{sample.descriptor(envelope_type, layer)}}});
    registry.fill(sample);
    registry.tag(signature_tag(release), sample.blobs.at(manifest));
  }

  ReleaseKey key;
  SampleRelease sample;
  Digest release = Digest::parse(sample.release).value();
  std::string envelope = key.sign(release, "0.1.0");
  FakeRegistry registry, target;
  net::CurlHttp http;
  TestContext test;
  RegistryClient client{http, {}};
  sys::RealFiles files;
  sys::TempDir folder = sys::TempDir::make("signature-test").value();
  Reference reference{registry.host(), "slipway/release", "0.1.0"};
};

TEST(Signatures, GoWithTheReleaseToRegistriesAndFiles) {
  SignedRelease world;
  const sys::Context& context = world.test.context();
  const Reference place{world.target.host(), "mirror/release"};
  ASSERT_TRUE(mirror_release(context, world.client, world.reference, world.client, place).ok());
  const auto mirrored = read_signatures(context, world.client, place, world.release);
  ASSERT_TRUE(mirrored.ok()) << mirrored.error().message();
  EXPECT_EQ(mirrored.value(), std::vector<std::string>{world.envelope});

  const std::string archive = world.folder.path() + "/release.tar", imported = world.folder.path() + "/imported";
  ASSERT_TRUE(
      export_release(context, world.files, world.client, world.reference, "registry.slipway.invalid/slipway/release", archive)
          .ok());
  ASSERT_TRUE(import_release(context, world.files, archive, imported).ok());
  OciLayout layout = OciLayout::open(world.files, imported).value();
  const auto read = read_signatures(context, layout, {.registry = "layout.invalid", .repository = "release"}, world.release);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read.value(), std::vector<std::string>{world.envelope});
  EXPECT_TRUE(verify_release(read.value(), world.release, {world.key.trusted()}).ok());
}

TEST(Signatures, AReleaseWithoutThemHasNone) {
  SignedRelease world;
  const auto read = read_signatures(world.test.context(), world.client, world.reference, other);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_TRUE(read->empty());
}

}  // namespace
}  // namespace slipway::release
