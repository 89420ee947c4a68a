#include "release/manifest.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

const std::string manifest_type = "application/vnd.oci.image.manifest.v1+json";
const std::string index_type = "application/vnd.oci.image.index.v1+json";

RawManifest raw(const std::string& type, const std::string& bytes) { return {type, bytes, Digest::of(bytes)}; }

std::string descriptor(const std::string& size = "3", char digit = 'a', const std::string& more = "") {
  return fmt::format(R"({{"mediaType":"t","digest":"sha256:{}","size":{}{}}})", std::string(64, digit), size, more);
}

TEST(ParseImageManifest, ReadsConfigAndLayers) {
  const std::string text = R"({"schemaVersion":2,"config":)" + descriptor() + R"(,"layers":[)" +
                           descriptor("18446744073709551615", 'b', R"(,"annotations":{"k":"v","n":1})") + "]}";
  auto manifest = parse_image_manifest(raw(manifest_type, text));
  ASSERT_TRUE(manifest.ok()) << manifest.error().message();
  EXPECT_EQ(manifest->config, (Descriptor{"t", Digest::from_hex(std::string(64, 'a')), 3}));
  EXPECT_EQ(manifest->layers,
            (std::vector<Descriptor>{{"t", Digest::from_hex(std::string(64, 'b')), 18446744073709551615u, {{"k", "v"}}}}));
}

TEST(ParseImageManifest, NamesTheField) {
  const std::string head = R"({"schemaVersion":2,)";
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"{", "document:1:2: unexpected end of the document"},
      {"[]", "schemaVersion: must be 2"},
      {R"({"schemaVersion":1})", "schemaVersion: manifests of schema 1 are not supported (push the image with a newer tool)"},
      {head + R"("layers":[]})", "config: missing"},
      {head + R"("config":)" + descriptor() + "}", "layers: must be a list"},
      {head + R"("config":)" + descriptor("-1") + R"(,"layers":[]})", "config: size: must be a number of bytes"},
      {head + R"("config":)" + descriptor("1.5") + R"(,"layers":[]})", "config: size: must be a number of bytes"},
      {head + R"("config":)" + descriptor() + R"(,"layers":[{"mediaType":"t"}]})",
       "layers[0]: digest: missing, must be a string"},
      {head + R"("config":)" + descriptor() + R"(,"layers":[],"manifests":[]})", "manifests: not allowed here"},
      {head + R"("mediaType":"other","config":{},"layers":[]})",
       "mediaType: must be 'application/vnd.oci.image.manifest.v1+json' as stored, got 'other'"},
  };
  for (const Case& c : cases) {
    const RawManifest document = raw(manifest_type, c.text);
    auto manifest = parse_image_manifest(document);
    ASSERT_FALSE(manifest.ok()) << c.text;
    EXPECT_EQ(manifest.error().message(), "image manifest " + document.digest.text() + ": " + c.message);
    EXPECT_EQ(manifest.error().code(), Code::invalid);
  }
}

TEST(ParseImageIndex, ReadsArchitectures) {
  const std::string text = R"({"schemaVersion":2,"manifests":[)" +
                           descriptor("3", 'c', R"(,"platform":{"architecture":"arm64","os":"linux"})") + "," + descriptor() +
                           "]}";
  auto index = parse_image_index(raw(index_type, text));
  ASSERT_TRUE(index.ok()) << index.error().message();
  ASSERT_EQ(index->manifests.size(), 2u);
  EXPECT_EQ(index->manifests[0].architecture, "arm64");
  EXPECT_EQ(index->manifests[1].architecture, "");
  EXPECT_FALSE(parse_image_index(raw(index_type, R"({"schemaVersion":2,"manifests":[],"layers":[]})")).ok());
}

TEST(MediaTypes, AreGuessedWhereNobodyKeptThem) {
  EXPECT_EQ(guess_media_type(R"({"mediaType":"x","manifests":[]})"), "x");
  EXPECT_EQ(guess_media_type(R"({"manifests":[]})"), index_type);
  EXPECT_EQ(guess_media_type(R"({"layers":[]})"), manifest_type);
  EXPECT_EQ(guess_media_type("{"), manifest_type);
  EXPECT_TRUE(is_index(index_type));
  EXPECT_TRUE(is_index("application/vnd.docker.distribution.manifest.list.v2+json"));
  EXPECT_FALSE(is_index(manifest_type));
}

}  // namespace
}  // namespace slipway::release
