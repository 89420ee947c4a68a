#include "sys/confined_folder.h"

#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace slipway::sys {
namespace {

class ConfinedFolderTest : public testing::Test {
 protected:
  ConfinedFolderTest() : temp_(TempDir::make("test").value()), root_(temp_.path()) {
    std::filesystem::create_directory(root_ / "volumes");
    std::filesystem::create_directory(root_ / "outside");
    write("outside/kept");
    folder = std::make_unique<ConfinedFolder>(ConfinedFolder::open((root_ / "volumes").string()).value());
  }
  void write(const std::string& path) { std::ofstream(root_ / path) << "text"; }
  unsigned mode(const std::string& path) const {
    struct stat info {};
    return ::lstat((root_ / path).c_str(), &info) == 0 ? info.st_mode & 07777u : 0u;
  }

  TempDir temp_;
  std::filesystem::path root_;
  std::unique_ptr<ConfinedFolder> folder;
};

TEST_F(ConfinedFolderTest, CreatesFoldersWithTheirMode) {
  const mode_t before = ::umask(077);
  EXPECT_TRUE(folder->make_folder("one", 0777).ok());
  ::umask(before);
  EXPECT_EQ(mode("volumes/one"), 0777u);
  write("volumes/one/data");
  ASSERT_TRUE(folder->make_folder("one", 0770).ok()) << "a second call continues a first one";
  EXPECT_EQ(mode("volumes/one"), 0770u);
  EXPECT_TRUE(std::filesystem::exists(root_ / "volumes/one/data"));
  EXPECT_EQ(folder->list().value(), std::vector<std::string>{"one"});
}

TEST_F(ConfinedFolderTest, DoesNotFollowALinkInPlaceOfAFolder) {
  std::filesystem::create_directory_symlink(root_ / "outside", root_ / "volumes/one");
  const unsigned before = mode("outside");
  const Result<> made = folder->make_folder("one", 0777);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::invalid);
  EXPECT_EQ(mode("outside"), before);
  ASSERT_TRUE(folder->remove_tree("one", {}).ok());
  EXPECT_TRUE(std::filesystem::exists(root_ / "outside/kept"));
  EXPECT_TRUE(folder->list()->empty());
}

TEST_F(ConfinedFolderTest, OpensNoLink) {
  std::filesystem::create_directory_symlink(root_ / "volumes", root_ / "link");
  EXPECT_EQ(ConfinedFolder::open((root_ / "link").string()).error().code(), Code::invalid);
  EXPECT_EQ(ConfinedFolder::open((root_ / "none").string()).error().code(), Code::not_found);
}

TEST_F(ConfinedFolderTest, RenamesAndReplacesNothing) {
  ASSERT_TRUE(folder->make_folder("one", 0777).ok());
  ASSERT_TRUE(folder->make_folder("two", 0777).ok());
  EXPECT_EQ(folder->rename("one", "two").error().code(), Code::conflict);
  EXPECT_EQ(folder->rename("three", "four").error().code(), Code::not_found);
  ASSERT_TRUE(folder->rename("one", "three").ok());
  EXPECT_EQ(folder->list().value(), (std::vector<std::string>{"three", "two"}));
}

TEST_F(ConfinedFolderTest, RemovesATreeAndNothingThatItsLinksNameTo) {
  ASSERT_TRUE(folder->make_folder("one", 0777).ok());
  std::filesystem::create_directories(root_ / "volumes/one/a/b/c");
  std::filesystem::create_directories(root_ / "volumes/one/0/1/2");  // names that lifted folders would get
  write("volumes/one/a/file");
  write("volumes/one/a/b/c/file");
  std::filesystem::create_symlink("/", root_ / "volumes/one/root");
  std::filesystem::create_directory_symlink(root_ / "outside", root_ / "volumes/one/a/outside");
  std::filesystem::create_directory_symlink("../../../../outside", root_ / "volumes/one/a/b/relative");
  std::filesystem::create_hard_link(root_ / "outside/kept", root_ / "volumes/one/a/hard");
  ASSERT_EQ(::mkfifo((root_ / "volumes/one/a/fifo").c_str(), 0600), 0);
  ASSERT_TRUE(folder->remove_tree("one", {}).ok());
  EXPECT_TRUE(folder->list()->empty());
  EXPECT_TRUE(std::filesystem::exists(root_ / "outside/kept"));
  EXPECT_TRUE(folder->remove_tree("one", {}).ok()) << "there is none";
}

// A recursion would need a descriptor for each level, and names of full length make paths that no system call accepts.
TEST_F(ConfinedFolderTest, RemovesATreeOfAnyDepth) {
  ASSERT_TRUE(folder->make_folder("one", 0777).ok());
  int at = ::open((root_ / "volumes/one").c_str(), O_RDONLY | O_DIRECTORY);
  const std::string name(200, 'x');
  for (int level = 0; level < 3000; ++level) {
    ASSERT_EQ(::mkdirat(at, name.c_str(), 0700), 0);
    const int below = ::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY);
    ::close(at);
    at = below;
  }
  ::close(at);
  ASSERT_TRUE(folder->remove_tree("one", {}).ok());
  EXPECT_TRUE(folder->list()->empty());
}

// In a mount namespace of its own. Returns what went wrong, 0 if nothing did, 77 if mounts are not allowed here.
int remove_with_mounts(const ConfinedFolder& folder, const std::string& path) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  for (const char* place : {"/one/a/mounted", "/one/mounted"}) {
    std::filesystem::create_directories(path + place);
    // The same file system, so that only the mount tells it.
    if (::mount((path + "/../outside").c_str(), (path + place).c_str(), nullptr, MS_BIND, nullptr) != 0) return 77;
  }
  const Result<> removed = folder.remove_tree("one", {});
  if (removed.ok()) return 1;
  if (removed.error().code() != Code::conflict) return 2;
  return std::filesystem::exists(path + "/../outside/kept") ? 0 : 3;
}

TEST_F(ConfinedFolderTest, EntersNoMount) {
  ASSERT_TRUE(folder->make_folder("one", 0777).ok());
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(remove_with_mounts(*folder, (root_ / "volumes").string()));
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounts are not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ConfinedFolderTest, StopsAndContinues) {
  ASSERT_TRUE(folder->make_folder("one", 0777).ok());
  std::filesystem::create_directories(root_ / "volumes/one/a/b");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(folder->remove_tree("one", stop.get_token()).error().code(), Code::cancelled);
  EXPECT_TRUE(std::filesystem::exists(root_ / "volumes/one/a/b"));
  ASSERT_TRUE(folder->remove_tree("one", {}).ok());
  EXPECT_TRUE(folder->list()->empty());
}

TEST_F(ConfinedFolderTest, KnowsItsFileSystem) {
  const FileSystemSpace space = folder->space().value();
  EXPECT_GT(space.size, 0);
  EXPECT_LE(space.available, space.size);
  EXPECT_TRUE(folder->shares_file_system((root_ / "outside").string()));
  EXPECT_FALSE(folder->shares_file_system("/proc"));
  EXPECT_FALSE(folder->shares_file_system((root_ / "none").string()));
}

}  // namespace
}  // namespace slipway::sys
