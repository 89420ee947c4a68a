#include "release/live_image.h"

#include "release/cpio.h"
#include "sys/file_reader.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace slipway::release {
namespace {

TEST(LiveImage, EmbedsAConfig) {
  const std::string config = R"({"ignition":{"version":"3.3.0"}})";
  const std::string area = embed_config(config, 4096).value();
  EXPECT_EQ(area.size(), 4096u);
  EXPECT_EQ(embedded_config(area).value(), config);
  EXPECT_EQ(embedded_config(std::string(4096, '\0')).value(), "");
  EXPECT_EQ(config_initrd(config)->size() % 512, 0u);
  EXPECT_EQ(embedded_config(area.substr(0, 120)).error().code(), Code::invalid);
}

TEST(LiveImage, RefusesAConfigThatDoesNotFit) {
  std::size_t most = 4096;
  while (!embed_config(std::string(most, 'x'), 4096).ok()) --most;
  EXPECT_EQ(embedded_config(embed_config(std::string(most, 'x'), 4096).value())->size(), most);
  const auto refused = embed_config(std::string(most + 1, 'x'), 4096);
  EXPECT_EQ(refused.error().code(), Code::too_large);
  EXPECT_NE(refused.error().message().find(fmt::format("has {} bytes", most + 1)), std::string::npos);
}

TEST(Cpio, FindsAFileBehindOthers) {
  std::string archive;
  for (const std::string name : {"one", "folder/two"}) {
    archive += cpio_header(name, 0644, name.size()).value() + name + cpio_padding(name.size());
  }
  archive += cpio_trailer();
  EXPECT_EQ(find_in_cpio(archive, "folder/two").value(), "folder/two");
  EXPECT_EQ(find_in_cpio(archive, "three").value(), std::nullopt);
  EXPECT_EQ(cpio_header("large", 0644, std::uint64_t{1} << 32).error().code(), Code::too_large);
  // A cut anywhere gives an answer or an error, never more than there is.
  for (std::size_t length = 0; length < archive.size(); ++length) (void)find_in_cpio(archive.substr(0, length), "folder/two");
}

// An image as os/disk/live makes it, with small files.
class LiveImageFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string tree = folder_.path() + "/tree";
    sys::RealFiles files;
    ASSERT_TRUE(files.write(tree + "/images/vmlinuz", "kernel", 0644).ok());
    ASSERT_TRUE(files.write(tree + "/images/initramfs.img", "initramfs", 0644).ok());
    ASSERT_TRUE(files.write(tree + "/images/root.squashfs", "root", 0644).ok());
    ASSERT_TRUE(files.write(tree + "/images/ignition.img", std::string(8192, '\0'), 0644).ok());
    ASSERT_TRUE(files
                    .write(tree + "/grub/grub.cfg",
                           "set timeout=1\nmenuentry \"slipway live\" {\n    linux /images/vmlinuz slipway.live a=b\n}\n", 0644)
                    .ok());
    const std::string command = fmt::format(
        "xorriso -as mkisofs -quiet -o {0}/live.iso -volid slipway-live -rational-rock -joliet -full-iso9660-filenames {0}/tree "
        "2>{0}/log",
        folder_.path());
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "xorriso is not installed";
  }

  sys::TempDir folder_ = sys::TempDir::make("live-image-test").value();
};

TEST_F(LiveImageFile, IsFoundInTheIso) {
  const std::string path = folder_.path() + "/live.iso";
  const sys::FileReader file = sys::FileReader::open(path).value();
  const ReadAt read = [&](std::uint64_t offset, std::size_t length) { return file.read(offset, length); };
  const std::uint64_t size = file.size();
  const auto image = read_live_image(read, size);
  ASSERT_TRUE(image.ok()) << image.error().message();
  const auto content = [&](const Extent& part) { return read(part.offset, part.length).value(); };
  EXPECT_EQ(content(image->kernel), "kernel");
  EXPECT_EQ(content(image->initramfs), "initramfs");
  EXPECT_EQ(content(image->root), "root");
  EXPECT_EQ(image->config.length, 8192u);
  EXPECT_EQ(image->kernel_arguments, "slipway.live a=b");
  EXPECT_FALSE(image->has_disk_image);
  EXPECT_EQ(find_config_area(read).value(), image->config);
  EXPECT_EQ(read_live_image(read, image->root.offset).error().code(), Code::invalid);
}

TEST(LiveImage, RefusesOtherFiles) {
  const ReadAt nothing = [](std::uint64_t, std::size_t) { return Result<std::string>(std::string()); };
  const ReadAt noise = [](std::uint64_t, std::size_t length) { return Result<std::string>(std::string(length, '\x07')); };
  for (const ReadAt& read : {nothing, noise}) {
    const auto image = read_live_image(read, 1 << 20);
    ASSERT_FALSE(image.ok());
    EXPECT_NE(image.error().message().find("not a live image"), std::string::npos);
  }
}

}  // namespace
}  // namespace slipway::release
