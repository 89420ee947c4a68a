#include "bootstrap/copies.h"

#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::bootstrap {
namespace {

using testing_support::MemoryFiles;

TEST(CopyAll, CopiesFilesAndWhatIsInFolders) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/a/out/manifests/x.yaml", "x", 0644).ok());
  ASSERT_TRUE(files.write("/a/out/manifests/deep/y.key", "y", 0600).ok());
  ASSERT_TRUE(files.write("/a/out/manifests/.z.yaml.123456", "half", 0600).ok());
  ASSERT_TRUE(files.write("/a/out/config", "c", 0644).ok());
  const Result<> result =
      copy_all(files, "/a", {{"out/manifests", "manifests"}, {"out/config", "/etc/c.yaml"}, {"out/none", "/etc", true}});
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(files.list("/a/manifests").value(), (std::vector<std::string>{"deep", "x.yaml"}));
  EXPECT_EQ(files.read("/a/manifests/deep/y.key").value(), "y");
  EXPECT_EQ(files.info("/a/manifests/deep/y.key").value()->mode, 0600U);
  EXPECT_EQ(files.read("/etc/c.yaml").value(), "c");
}

TEST(CopyAll, WantsWhatIsNotOptional) {
  MemoryFiles files;
  const Result<> result = copy_all(files, "/a", {{"out/none", "/etc"}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::not_found);
}

TEST(CopyAll, ManifestsAreWrittenOnceOrTheSame) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/a/manifests/x.yaml", "mine", 0644).ok());
  ASSERT_TRUE(files.write("/a/out/x.yaml", "mine", 0644).ok());
  EXPECT_TRUE(copy_all(files, "/a", {{"out", "manifests"}}).ok());
  ASSERT_TRUE(files.write("/a/out/x.yaml", "other", 0644).ok());
  for (const char* to : {"manifests", "bootstrap-manifests"}) {
    ASSERT_TRUE(files.write(std::string("/a/") + to + "/x.yaml", "mine", 0644).ok());
    const Result<> result = copy_all(files, "/a", {{"out", to}});
    ASSERT_FALSE(result.ok()) << to;
    EXPECT_EQ(result.error().code(), Code::conflict);
  }
  // In other folders the newer file wins.
  ASSERT_TRUE(files.write("/etc/k/x.yaml", "mine", 0644).ok());
  EXPECT_TRUE(copy_all(files, "/a", {{"out", "/etc/k"}}).ok());
  EXPECT_EQ(files.read("/etc/k/x.yaml").value(), "other");
}

TEST(FreezeFolder, ReplacesAsAWhole) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/a/manifests/x.yaml", "x", 0644).ok());
  ASSERT_TRUE(files.write("/a/frozen/manifests.new/half.yaml", "", 0644).ok());
  ASSERT_TRUE(files.write("/a/frozen/manifests/old.yaml", "", 0644).ok());
  ASSERT_TRUE(freeze_folder(files, "/a/manifests", "/a/frozen/manifests").ok());
  EXPECT_EQ(files.list("/a/frozen").value(), (std::vector<std::string>{"manifests"}));
  EXPECT_EQ(files.list("/a/frozen/manifests").value(), (std::vector<std::string>{"x.yaml"}));
}

TEST(RemoveRemains, LeavesWhatIsWhole) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/a/x.yaml", "x", 0644).ok());
  ASSERT_TRUE(files.write("/a/.x.yaml.Ab12cd", "", 0600).ok());
  ASSERT_TRUE(remove_remains(files, "/a").ok());
  ASSERT_TRUE(remove_remains(files, "/nothing").ok());
  EXPECT_EQ(files.list("/a").value(), (std::vector<std::string>{"x.yaml"}));
}

}  // namespace
}  // namespace slipway::bootstrap
