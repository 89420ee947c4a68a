#include "node/os_update/image.h"

#include "support/node_world.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

KnownImage known(std::string ref, std::vector<std::string> layers) {
  return {.ref = std::move(ref), .commit = "c", .digest = "d", .layers = std::move(layers)};
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
  EXPECT_EQ(find_image(images.value(), digest)->commit, commit);
  EXPECT_EQ(find_image(images.value(), release::Digest::of("another")), nullptr);
}

}  // namespace
}  // namespace slipway::node
