#include "node/os_update/image.h"

#include "support/node_world.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

KnownImage known(std::string ref, std::vector<std::string> layers) {
  return {.ref = std::move(ref), .commit = "c", .digest = "d", .layers = std::move(layers), .extensions = {}};
}

TEST(OsImage, BeginsWithTheCommitThatHasMostOfItsLayers) {
  const std::vector<KnownImage> images = {known("none", {}), known("base", {"a", "b"}), known("more", {"a", "b", "c"}),
                                          known("other", {"x"})};
  struct Case {
    std::vector<std::string> layers;
    const char* base;
  };
  const std::vector<Case> cases = {
      {{"a", "b", "c", "d"}, "more"}, {{"a", "b", "d"}, "base"}, {{"a", "b"}, "base"}, {{"a"}, ""}, {{"b", "a"}, ""}, {{}, ""}};
  for (const Case& c : cases) {
    const KnownImage* base = find_base(images, c.layers);
    EXPECT_EQ(base ? base->ref : "", c.base);
  }
}

TEST(OsImage, TheRepositorySaysWhichImagesItHas) {
  testing_support::NodeWorld world;
  const std::string repository = "--repo=/ostree/repo", commit(64, 'c');
  const release::Digest digest = release::Digest::of("image");
  world.runner.answer({"ostree", repository, "refs"}, "slipway/machine-os\nother/ref\n");
  world.runner.answer({"ostree", repository, "rev-parse", "slipway/machine-os"}, commit + "\n");
  world.runner.answer({"ostree", repository, "show", "--print-metadata-key=slipway.image", commit}, "'" + digest.text() + "'\n");
  world.runner.answer({"ostree", repository, "show", "--print-metadata-key=slipway.layers", commit}, "'a b'\n");
  const Result<std::vector<KnownImage>> images = known_images(world.environment());
  ASSERT_TRUE(images.ok()) << images.error().message();
  ASSERT_EQ(images->size(), 1u);
  EXPECT_EQ(images.value()[0].layers, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(find_image(images.value(), digest.text())->commit, commit);
  EXPECT_EQ(find_image(images.value(), release::Digest::of("another").text()), nullptr);
}

TEST(OsImage, TheSameImageWithExtensionsIsAnother) {
  std::vector<KnownImage> images = {known("extended", {}), known("plain", {}), known("other", {})};
  images[0].extensions = {.image = "e", .names = {"a", "b"}};
  images[2].extensions = {.image = "e", .names = {"a"}};
  const auto found = [&](const Extensions& extensions) {
    const KnownImage* image = find_image(images, "d", extensions);
    return image ? image->ref : "";
  };
  EXPECT_EQ(found({}), "plain");
  EXPECT_EQ(found({.image = "e", .names = {"a", "b"}}), "extended");
  EXPECT_EQ(found({.image = "e", .names = {"a"}}), "other");
  EXPECT_EQ(found({.image = "f", .names = {"a"}}), "");
}

TEST(OsImage, ExtensionsThatAnImageDoesNotHaveAreNamedWithThoseThatItHas) {
  const std::vector<std::string> names = {"ipsec", "kernel-rt", "usbguard"};
  EXPECT_EQ(find_extensions(names, {"usbguard", "ipsec"}).value(), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(find_extensions(names, {"ipsec", "two-node-ha"}).error().message(),
            "it has no extension two-node-ha; it has: extension ipsec, kernelType realtime, extension usbguard");
  EXPECT_EQ(find_extensions({"ipsec"}, {"kernel-rt"}).error().message(),
            "it has no kernelType realtime; it has: extension ipsec");
}

TEST(OsImage, PackagesOfAnExtensionReplaceOlderOnes) {
  const std::string before = "Package: a\nArchitecture: amd64\nVersion: 1\n\nPackage: b\nArchitecture: amd64\nVersion: 1\n\n";
  const std::string added =
      "Package: c\nArchitecture: all\nDescription: one\n two\n\nPackage: a\nArchitecture: amd64\nVersion: 2\n";
  const std::string after =
      "Package: a\nArchitecture: amd64\nVersion: 2\n\nPackage: b\nArchitecture: amd64\nVersion: 1\n\n"
      "Package: c\nArchitecture: all\nDescription: one\n two\n\n";
  EXPECT_EQ(add_packages(before, added), after);
  EXPECT_EQ(add_packages(after, added), after);
  EXPECT_EQ(add_packages("", ""), "");
}

}  // namespace
}  // namespace slipway::node
