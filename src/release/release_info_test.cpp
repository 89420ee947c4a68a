#include "release/release_info.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

TEST(ReleaseInfo, IsReadAsItWasWritten) {
  Release release{.version = "4.18.3",
                  .digest = Digest::of("release"),
                  .created = "2026-11-21T09:30:00Z",
                  .metadata = {{"description", "a sample"}},
                  .components = {},
                  .manifests = {"0000_10_a.crd.yaml"}};
  release.components["etcd"] = {parse_reference("quay.io/a/b@" + Digest::of("etcd").text()).value(), {{"etcd", "3.6.5"}}};
  const std::string text = emit_json(release_info(release), JsonStyle::pretty);
  const Result<Release> read = parse_release_info(text, "info.json");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(emit_json(release_info(read.value()), JsonStyle::pretty), text);
  EXPECT_EQ(read->digest, release.digest);
}

TEST(ReleaseInfo, SaysAllThatIsMissing) {
  const Result<Release> read =
      parse_release_info(R"({"components": [{"image": "quay.io/a/b:tag"}, {"name": "etcd", "image": "etcd"}]})", "info.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), Code::invalid);
  for (const std::string part :
       {"info.json: error: digest: ", "info.json: error: version: missing", "info.json: error: components[0].name: missing",
        "info.json: error: components[0].image: must have a digest", "info.json: error: components[1].image: "}) {
    EXPECT_NE(read.error().message().find(part), std::string::npos) << part << "\n" << read.error().message();
  }
  EXPECT_FALSE(parse_release_info("Version: 4.18.3", "info.json").ok());
}

}  // namespace
}  // namespace slipway::release
