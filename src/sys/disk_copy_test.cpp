#include "sys/disk_copy.h"

#include "support/test_context.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

namespace slipway::sys {
namespace {

class DiskCopy : public testing::Test {
 protected:
  // An image with data at its begin, a hole, and data in front of a hole at its end.
  std::string make_image() {
    const std::string path = folder_.path() + "/image";
    (void)files_.write(path, "begin", 0600).ok();
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(::pwrite(fd, "middle", 6, 9'000'000), 6);
    EXPECT_EQ(::ftruncate(fd, size), 0);
    ::close(fd);
    return path;
  }
  Result<std::uint64_t> copy(const std::string& image, const std::string& target) {
    return copy_to_disk(test_.context(), image, target, [this](std::uint64_t bytes) { done_ += bytes; });
  }

  static constexpr std::uint64_t size = 20'000'000;
  RealFiles files_;
  TempDir folder_ = TempDir::make("disk-copy-test").value();
  testing_support::TestContext test_;
  std::uint64_t done_ = 0;
};

TEST_F(DiskCopy, AFileHasTheSameContentAndTheSameHoles) {
  const std::string image = make_image(), target = folder_.path() + "/disk";
  const auto copied = copy(image, target);
  ASSERT_TRUE(copied.ok()) << copied.error().message();
  EXPECT_EQ(copied.value(), size);
  EXPECT_EQ(done_, 2 * size);
  EXPECT_EQ(files_.read(target).value(), files_.read(image).value());
  struct stat info {};
  ASSERT_EQ(::stat(target.c_str(), &info), 0);
  EXPECT_LT(info.st_blocks * 512, 1'000'000);
  EXPECT_EQ(info.st_mode & 0777, 0600u);  // it may contain a config with secrets
}

TEST_F(DiskCopy, AnEmptyImageGivesAnEmptyFile) {
  const std::string image = folder_.path() + "/empty", target = folder_.path() + "/disk";
  ASSERT_TRUE(files_.write(image, "", 0600).ok());
  EXPECT_EQ(copy(image, target).value(), 0u);
  EXPECT_EQ(files_.read(target).value(), "");
}

TEST_F(DiskCopy, WhatExistsStays) {
  const std::string image = make_image(), target = folder_.path() + "/disk";
  ASSERT_TRUE(files_.write(target, "mine", 0600).ok());
  const auto copied = copy(image, target);
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().code(), Code::conflict);
  EXPECT_NE(copied.error().message().find("exists already"), std::string::npos) << copied.error().message();
  EXPECT_EQ(files_.read(target).value(), "mine");
}

TEST_F(DiskCopy, WrongTargetsAndImages) {
  const std::string image = make_image();
  EXPECT_EQ(copy(image, folder_.path()).error().code(), Code::invalid);
  EXPECT_EQ(copy(image, "/dev/null").error().code(), Code::invalid);
  EXPECT_EQ(check_disk_target("/dev/null").error().code(), Code::invalid);
  EXPECT_EQ(check_disk_target(image).error().code(), Code::conflict);
  EXPECT_TRUE(check_disk_target(folder_.path() + "/disk").ok());
  EXPECT_EQ(copy(image, folder_.path() + "/no/disk").error().code(), Code::not_found);
  EXPECT_EQ(copy(folder_.path() + "/no-image", folder_.path() + "/disk").error().code(), Code::not_found);
  EXPECT_FALSE(files_.info(folder_.path() + "/disk").value());
}

TEST_F(DiskCopy, AStopRemovesTheIncompleteFile) {
  const std::string image = make_image(), target = folder_.path() + "/disk";
  std::stop_source stop;
  const auto copied =
      copy_to_disk(test_.context().with_stop(stop.get_token()), image, target, [&stop](std::uint64_t) { stop.request_stop(); });
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().code(), Code::cancelled);
  EXPECT_FALSE(files_.info(target).value());
}

}  // namespace
}  // namespace slipway::sys
