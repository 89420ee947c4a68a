#include "sys/files.h"

#include "support/memory_files.h"
#include "sys/lock.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace slipway::sys {
namespace {

// The guarantees of Files, tested for the real implementation and the one in memory.
class FilesSuite : public testing::TestWithParam<const char*> {
 protected:
  FilesSuite() : temp_(TempDir::make("test").value()) {
    if (std::string_view(GetParam()) == "real") {
      files_ = std::make_unique<RealFiles>();
      root_ = temp_.path();
    } else {
      files_ = std::make_unique<testing_support::MemoryFiles>();
      root_ = "/root";
      EXPECT_TRUE(files_->make_directories(root_, 0755).ok());
    }
  }
  std::string path(std::string_view name) const { return fmt::format("{}/{}", root_, name); }

  TempDir temp_;
  std::unique_ptr<Files> files_;
  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(Files, FilesSuite, testing::Values("real", "memory"));

TEST_P(FilesSuite, WritesAndReplaces) {
  ASSERT_TRUE(files_->write(path("a/b/secret"), "one", 0600).ok());
  ASSERT_TRUE(files_->write(path("a/b/secret"), "two", 0600).ok());
  EXPECT_EQ(files_->read(path("a/b/secret")).value(), "two");
  EXPECT_EQ(files_->info(path("a/b/secret")).value()->mode, 0600u);
  EXPECT_EQ(files_->info(path("a/b")).value()->mode, 0700u) << "a folder of secrets is private";
  EXPECT_EQ(files_->list(path("a/b")).value(), std::vector<std::string>{"secret"}) << "nothing temporary is left";
}

TEST_P(FilesSuite, WritesEachUntilOneFails) {
  ASSERT_TRUE(files_->write(path("a/one"), "old", 0644).ok());
  ASSERT_TRUE(files_->make_directories(path("b/folder"), 0755).ok());
  const NewFile wanted[] = {{path("a/one"), "1", 0600},
                            {path("a/two"), "2", 0644},
                            {path("c/three"), "3", 0600},
                            {path("b/folder"), "4", 0644},
                            {path("a/five"), "5", 0644}};
  EXPECT_EQ(files_->write_each(wanted).error().code(), Code::conflict);
  EXPECT_EQ(files_->list(path("a")).value(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(files_->read(path("a/one")).value(), "1");
  EXPECT_EQ(files_->info(path("a/one")).value()->mode, 0600u);
  EXPECT_EQ(files_->read(path("c/three")).value(), "3");
  EXPECT_EQ(files_->list(path("b")).value(), std::vector<std::string>{"folder"}) << "nothing temporary is left";
  EXPECT_TRUE(files_->write_each({}).ok());
}

TEST_P(FilesSuite, AbsenceIsAValue) {
  EXPECT_FALSE(files_->read_if_exists(path("none")).value().has_value());
  EXPECT_FALSE(files_->info(path("none")).value().has_value());
  EXPECT_EQ(files_->read(path("none")).error().code(), Code::not_found);
  EXPECT_EQ(files_->read(path("none")).error().message(), fmt::format("reading {}: No such file or directory", path("none")));
  EXPECT_EQ(files_->list(path("none")).error().code(), Code::not_found);
  EXPECT_TRUE(files_->remove(path("none")).ok());
}

TEST_P(FilesSuite, RefusesAFileWhereAFolderIs) {
  ASSERT_TRUE(files_->make_directories(path("d"), 0755).ok());
  ASSERT_TRUE(files_->write(path("f"), "", 0644).ok());
  EXPECT_EQ(files_->write(path("d"), "x", 0644).error().code(), Code::conflict);
  EXPECT_EQ(files_->make_directories(path("f/x"), 0755).error().code(), Code::conflict);
  EXPECT_EQ(files_->list(path("f")).error().code(), Code::conflict);
}

TEST_P(FilesSuite, AppendsListsRenamesRemoves) {
  ASSERT_TRUE(files_->append(path("log/events"), "1\n", 0600).ok());
  ASSERT_TRUE(files_->append(path("log/events"), "2\n", 0600).ok());
  EXPECT_EQ(files_->read(path("log/events")).value(), "1\n2\n");
  ASSERT_TRUE(files_->write(path("log/b"), "", 0644).ok());
  ASSERT_TRUE(files_->rename(path("log"), path("old")).ok());
  EXPECT_EQ(files_->list(path("old")).value(), (std::vector<std::string>{"b", "events"}));
  EXPECT_EQ(files_->rename(path("log"), path("x")).error().code(), Code::not_found);
  ASSERT_TRUE(files_->remove(path("old")).ok());
  EXPECT_TRUE(files_->list(root_).value().empty());
}

TEST_P(FilesSuite, ExchangesWholeFolders) {
  ASSERT_TRUE(files_->write(path("key/tls.key"), "old", 0600).ok());
  ASSERT_TRUE(files_->write(path("beside/.key.new/tls.key"), "new", 0600).ok());
  ASSERT_TRUE(files_->write(path("beside/.key.new/tls.crt"), "new", 0644).ok());
  ASSERT_TRUE(files_->exchange(path("beside/.key.new"), path("key")).ok());
  EXPECT_EQ(files_->list(path("key")).value(), (std::vector<std::string>{"tls.crt", "tls.key"}));
  EXPECT_EQ(files_->read(path("key/tls.key")).value(), "new");
  EXPECT_EQ(files_->list(path("beside/.key.new")).value(), (std::vector<std::string>{"tls.key"}));
  EXPECT_EQ(files_->read(path("beside/.key.new/tls.key")).value(), "old");
  EXPECT_EQ(files_->exchange(path("none"), path("key")).error().code(), Code::not_found);
  EXPECT_EQ(files_->exchange(path("key"), path("none")).error().code(), Code::not_found);
  EXPECT_EQ(files_->read(path("key/tls.key")).value(), "new") << "a failure changes nothing";
}

TEST(RealFiles, AKillLeavesTheOldOrTheNewContent) {
  TempDir temp = TempDir::make("test").value();
  RealFiles files;
  const std::string path = temp.path() + "/file", old_text(100'000, 'a'), new_text(300'000, 'b');
  ASSERT_TRUE(files.write(path, old_text, 0644).ok());
  for (int round = 0; round < 20; ++round) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (;;) {
        (void)RealFiles().write(path, new_text, 0644).ok();
        (void)RealFiles().write(path, old_text, 0644).ok();
      }
    }
    ::usleep(static_cast<useconds_t>(500 + round * 700));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    const std::string content = files.read(path).value();
    ASSERT_TRUE(content == old_text || content == new_text) << content.size();
  }
}

// In a mount namespace of its own. Returns what went wrong, 0 if nothing did, 77 if mounts are not allowed here.
int remove_in_mounts(const std::string& folder) {
  RealFiles files;
  const std::string layers =
      "lowerdir=" + folder + "/lower,upperdir=" + folder + "/upper/files,workdir=" + folder + "/upper/work";
  const std::string root = folder + "/root";
  for (const char* name : {"/lower", "/upper", "/root"}) {
    if (!files.make_directories(folder + name, 0755).ok()) return 1;
  }
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  if (::mount("none", (folder + "/upper").c_str(), "tmpfs", 0, nullptr) != 0) return 77;
  for (const char* name : {"/upper/files", "/upper/work"}) {
    if (!files.make_directories(folder + name, 0755).ok()) return 2;
  }
  if (::mount("none", root.c_str(), "overlay", 0, layers.c_str()) != 0) return 77;
  // Files of an overlay have another device than its folders.
  if (!files.write(root + "/a/b/file", "x", 0600).ok() || !files.remove(root + "/a").ok()) return 3;
  if (files.info(root + "/a").value()) return 4;
  // Another file system below the path keeps its files.
  if (!files.make_directories(root + "/c/mounted", 0755).ok()) return 5;
  if (::mount("none", (root + "/c/mounted").c_str(), "tmpfs", 0, nullptr) != 0) return 77;
  if (!files.write(root + "/c/mounted/file", "x", 0600).ok()) return 6;
  if (files.remove(root + "/c").ok()) return 7;
  return files.read(root + "/c/mounted/file").ok() ? 0 : 8;
}

TEST(RealFiles, AnOverlayIsRemovedAndAMountIsNotEntered) {
  TempDir temp = TempDir::make("test").value();
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(remove_in_mounts(temp.path()));
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounts are not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(TempDir, IsPrivateAndGoneWithItsOwner) {
  RealFiles files;
  std::string path;
  {
    TempDir temp = TempDir::make("test").value();
    path = temp.path();
    EXPECT_EQ(files.info(path).value()->mode, 0700u);
    ASSERT_TRUE(files.write(path + "/a/b", "x", 0600).ok());
  }
  EXPECT_FALSE(files.info(path).value().has_value());
}

TEST(FileLock, NamesTheHolderAndEndsWithIt) {
  TempDir temp = TempDir::make("test").value();
  const std::string path = temp.path() + "/.lock";
  {
    Result<FileLock> first = FileLock::acquire(path, "asset directory demo");
    ASSERT_TRUE(first.ok());
    Result<FileLock> second = FileLock::acquire(path, "asset directory demo");
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code(), Code::conflict);
    EXPECT_EQ(second.error().message(),
              fmt::format("asset directory demo: in use by process {} (test_sys) (wait for it or stop it)", ::getpid()));
  }
  EXPECT_TRUE(FileLock::acquire(path, "it").ok());
}

}  // namespace
}  // namespace slipway::sys
