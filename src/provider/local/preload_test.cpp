#include "provider/local/preload.h"

#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>
#include <filesystem>

namespace slipway::provider::local {
namespace {

class Preload : public testing::Test {
 protected:
  Preload() {
    EXPECT_TRUE(files.write(folder + "/state/bolt/meta.db", "of the build", 0600).ok());
    EXPECT_TRUE(files.write(folder + "/images/blobs/sha256/1234", "of the release", 0600).ok());
    EXPECT_TRUE(files.make_directories(folder + "/state/content", 0711).ok());
    std::filesystem::create_symlink("/var/lib/containerd-images/blobs/sha256/1234", folder + "/state/content/1234");
    std::filesystem::permissions(folder + "/state", std::filesystem::perms(0711));
  }

  Result<> run() { return preload_images(context.context(), runner, files, folder, var); }

  const sys::TempDir temporary = sys::TempDir::make("preload-test").value();
  const std::string folder = temporary.path() + "/images", var = temporary.path() + "/var";
  testing_support::RealTimeContext context;
  sys::RealFiles files;
  sys::RealRunner runner;
};

TEST_F(Preload, StateIsTheMachinesOwn) {
  ASSERT_TRUE(run().ok());
  EXPECT_FALSE(std::filesystem::equivalent(folder + "/state/bolt/meta.db", var + "/lib/containerd/bolt/meta.db"));
  EXPECT_EQ(files.read(var + "/lib/containerd/bolt/meta.db").value(), "of the build");
  EXPECT_EQ(std::filesystem::read_symlink(var + "/lib/containerd/content/1234"), "/var/lib/containerd-images/blobs/sha256/1234");
  EXPECT_EQ(files.info(var + "/lib/containerd").value()->mode & 07777, 0711u);
  EXPECT_EQ(files.list(var + "/lib/containerd-images").value(), std::vector<std::string>());
}

TEST_F(Preload, FolderThatIsEmptyIsFilled) {
  ASSERT_TRUE(files.make_directories(var + "/lib/containerd", 0755).ok());
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(files.read(var + "/lib/containerd/bolt/meta.db").value(), "of the build");
}

TEST_F(Preload, ImagesOfAMachineAreNotReplaced) {
  ASSERT_TRUE(run().ok());
  ASSERT_TRUE(files.write(var + "/lib/containerd/bolt/meta.db", "the machine's", 0600).ok());
  EXPECT_EQ(run().error().code(), Code::conflict);
  EXPECT_EQ(files.read(var + "/lib/containerd/bolt/meta.db").value(), "the machine's");
}

TEST_F(Preload, MissingFolderIsNamed) {
  ASSERT_TRUE(files.remove(folder).ok());
  const Result<> result = run();
  EXPECT_EQ(result.error().code(), Code::unavailable);
  EXPECT_NE(result.error().message().find(folder), std::string::npos) << result.error().message();
}

}  // namespace
}  // namespace slipway::provider::local
