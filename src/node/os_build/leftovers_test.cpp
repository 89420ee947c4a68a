#include "node/os_build/leftovers.h"

#include "machineconfig/os_build.h"
#include "support/memory_files.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace slipway::node {
namespace {

TEST(LeftoversOfBuilds, OtherBuildsAreRemoved) {
  testing_support::MemoryFiles files;
  const std::string folder = std::string("/rootfs") + machineconfig::os_images_folder;
  EXPECT_TRUE(remove_other_builds(files, "/rootfs", "worker-2").ok()) << "there is none";
  for (const char* path : {"/worker-1/push-logins.json", "/worker-1/output/oci/index.json", "/worker-2/output/build.log"})
    ASSERT_TRUE(files.write(folder + path, "x", 0600).ok());
  ASSERT_TRUE(remove_other_builds(files, "/rootfs", "worker-2").ok());
  EXPECT_EQ(files.list(folder).value(), std::vector<std::string>{"worker-2"});
  EXPECT_TRUE(files.info(folder + "/worker-2/output/build.log").value());
}

TEST(LeftoversOfBuilds, AMachineHasOneBuildAtATime) {
  const sys::TempDir root = sys::TempDir::make("leftovers").value();
  std::filesystem::create_directory(root.path() + "/run");
  testing_support::TestContext test;
  std::optional<sys::FileLock> first = wait_for_machine(test.context(), root.path()).value();
  const Result<sys::FileLock> second = wait_for_machine(test.context(), root.path());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), Code::timeout);
  EXPECT_NE(second.error().message().find("waiting for another build on this machine"), std::string::npos)
      << second.error().message();
  first.reset();
  EXPECT_TRUE(wait_for_machine(test.context(), root.path()).ok());
}

}  // namespace
}  // namespace slipway::node
