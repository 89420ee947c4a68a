#include "components/cluster_version/image.h"

#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_version {
namespace {

TEST(ImageOfComponent, ReturnsThePullSpec) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  testing_support::MemoryFiles files;
  ASSERT_TRUE(
      files
          .write("/release-manifests/image-references",
                 R"({"kind":"ImageStream","apiVersion":"image.openshift.io/v1","metadata":{"name":"1.0.0"},"spec":{"tags":[)"
                 R"({"name":"etcd","from":{"kind":"DockerImage","name":"registry.example.com/r/r@)" +
                     digest + R"("}}]}})",
                 0644)
          .ok());
  ASSERT_TRUE(
      files.write("/release-manifests/release-metadata", R"({"kind":"cincinnati-metadata-v0","version":"1.0.0"})", 0644).ok());
  EXPECT_EQ(image_of_component(files, "", "etcd").value(), "registry.example.com/r/r@" + digest);
  EXPECT_EQ(image_of_component(files, "", "etdc").error().code(), Code::not_found);
  EXPECT_EQ(image_of_component(files, "/none", "etcd").error().code(), Code::not_found);
}

}  // namespace
}  // namespace slipway::components::cluster_version
