#include "provider/local/preload.h"

#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>
#include <cstdlib>
#include <filesystem>

namespace slipway::provider::local {
namespace {

class Preload : public testing::Test {
 protected:
  Preload() {
    for (const char* name :
         {"bolt/meta.db", "overlayfs/metadata.db", "content/blobs/sha256/1234", "overlayfs/snapshots/1/fs/usr/lib/some.db"}) {
      EXPECT_TRUE(files.write(images + "/" + name, name, 0600).ok());
    }
    std::filesystem::create_symlink("nowhere", images + "/overlayfs/snapshots/1/fs/link");
    std::filesystem::permissions(images, std::filesystem::perms(0711));
  }

  Result<> run() { return preload_images(context.context(), runner, files, images, var); }
  bool is_shared(const std::string& name) const {
    return std::filesystem::equivalent(images + "/" + name, var + "/lib/containerd/" + name);
  }

  const sys::TempDir folder = sys::TempDir::make("preload-test").value();
  const std::string images = folder.path() + "/images", var = folder.path() + "/var";
  testing_support::RealTimeContext context;
  sys::RealFiles files;
  sys::RealRunner runner;
};

TEST_F(Preload, DatabasesAreTheMachinesOwnAndTheRestIsShared) {
  ASSERT_TRUE(run().ok());
  for (const char* name : {"bolt/meta.db", "overlayfs/metadata.db"}) {
    EXPECT_FALSE(is_shared(name)) << name;
    EXPECT_EQ(files.read(var + "/lib/containerd/" + name).value(), name);
  }
  EXPECT_TRUE(is_shared("content/blobs/sha256/1234"));
  EXPECT_TRUE(is_shared("overlayfs/snapshots/1/fs/usr/lib/some.db"));  // of an image, not containerd's
  EXPECT_EQ(std::filesystem::read_symlink(var + "/lib/containerd/overlayfs/snapshots/1/fs/link"), "nowhere");
  EXPECT_EQ(files.info(var + "/lib/containerd").value()->mode & 07777, 0711u);
}

TEST_F(Preload, FolderThatIsEmptyIsFilled) {
  ASSERT_TRUE(files.make_directories(var + "/lib/containerd", 0755).ok());
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(is_shared("content/blobs/sha256/1234"));
}

TEST_F(Preload, ImagesOfAMachineAreNotReplaced) {
  ASSERT_TRUE(run().ok());
  ASSERT_TRUE(files.write(var + "/lib/containerd/bolt/meta.db", "the machine's", 0600).ok());
  EXPECT_EQ(run().error().code(), Code::conflict);
  EXPECT_EQ(files.read(var + "/lib/containerd/bolt/meta.db").value(), "the machine's");
}

TEST_F(Preload, MissingTemplateIsNamed) {
  ASSERT_TRUE(files.remove(images).ok());
  const Result<> result = run();
  EXPECT_EQ(result.error().code(), Code::unavailable);
  EXPECT_NE(result.error().message().find(images), std::string::npos) << result.error().message();
}

}  // namespace
}  // namespace slipway::provider::local
