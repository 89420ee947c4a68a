#include "provider/local/blank.h"

#include "support/asset_store.h"
#include "support/memory_files.h"
#include "sys/stages.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::provider::local {
namespace {

TEST(BootSource, AnEmptyDiskBootsTheDiscoveryImage) {
  using enum BootSource;
  struct {
    bool is_live_requested, has_new_image, is_installed;
    BootSource expected;
  } rows[] = {
      {false, false, false, live},    {false, true, false, new_image}, {false, false, true, installation},
      {false, true, true, new_image}, {true, false, false, live},      {true, true, true, live},
  };
  for (const auto& row : rows) EXPECT_EQ(boot_source(row.is_live_requested, row.has_new_image, row.is_installed), row.expected);
}

class BlankDisk : public ::testing::Test {
 protected:
  void write(const std::string& path, std::string_view content) { ASSERT_TRUE(files_.write(path, content, 0600).ok()); }
  bool has(const std::string& path) { return files_.info(path).value().has_value(); }
  Result<> take() { return take_image(files_, cluster_, machine_, {"h0-disk", "h0-ignition"}); }

  testing_support::MemoryFiles files_;
  const std::string commit_ = std::string(64, 'a');
  const ClusterPaths cluster_{"/state/c"};
  const MachinePaths machine_ = cluster_.machine("h0");
  const std::string disk_ = machine_.blank_disk();
};

TEST_F(BlankDisk, BecomesTheMachinesDisk) {
  ASSERT_TRUE(files_.make_directories(cluster_.os() + "/" + commit_, 0755).ok());
  EXPECT_EQ(boot_source(files_, machine_).value(), BootSource::live);
  write(disk_ + "/config.ign", "{}");
  EXPECT_EQ(boot_source(files_, machine_).value(), BootSource::live) << "the image is not complete";
  write(disk_ + "/image.json", R"({"commit":")" + commit_ + R"("})");
  write(sys::marker_path(machine_.folder, "h0-disk"), "");
  write(sys::marker_path(machine_.folder, "h0-ignition"), "");
  write(machine_.ignition_begun(), "");
  // Twice: the first call may have been killed.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(boot_source(files_, machine_).value(), BootSource::new_image);
    ASSERT_TRUE(take().ok());
    EXPECT_EQ(files_.read(machine_.ignition()).value(), "{}");
    EXPECT_FALSE(has(sys::marker_path(machine_.folder, "h0-disk")));
    EXPECT_FALSE(has(sys::marker_path(machine_.folder, "h0-ignition")));
    EXPECT_FALSE(has(machine_.ignition_begun()));
  }
  ASSERT_TRUE(finish_image(files_, machine_).ok());
  EXPECT_FALSE(has(disk_ + "/config.ign")) << "it has secrets";
  EXPECT_EQ(boot_source(files_, machine_).value(), BootSource::installation);
  write(machine_.live_request(), "");
  EXPECT_EQ(boot_source(files_, machine_).value(), BootSource::live);
}

TEST_F(BlankDisk, IsMadeByTheNextStartAfterAKillAtAnyChange) {
  ASSERT_TRUE(files_.make_directories(cluster_.os() + "/" + commit_, 0755).ok());
  for (int changes = 0;; ++changes) {
    write(disk_ + "/config.ign", std::to_string(changes));
    write(disk_ + "/image.json", R"({"commit":")" + commit_ + R"("})");
    write(disk_ + "/installed.json", "of the last image");
    ASSERT_TRUE(take().ok());
    assets::DyingFiles dying(files_, changes);
    const bool is_whole = finish_image(dying, machine_).ok();
    const BootSource source = boot_source(files_, machine_).value();
    ASSERT_NE(source, BootSource::live) << "killed before change " << changes;
    if (source == BootSource::new_image) {
      EXPECT_TRUE(take().ok()) << "killed before change " << changes;
    } else {
      ASSERT_TRUE(remove_config(files_, machine_).ok());
    }
    EXPECT_EQ(files_.read(machine_.ignition()).value(), std::to_string(changes));
    if (is_whole) break;
  }
  EXPECT_FALSE(has(disk_ + "/config.ign"));
}

TEST_F(BlankDisk, RefusesWhatIsNoImage) {
  struct {
    std::string image, expected;
  } rows[] = {
      {"x", "image.json"},
      {"{}", "commit"},
      {R"({"commit":"../../etc"})", "64 hexadecimal digits"},
      {R"({"commit":")" + commit_ + R"("})", "does not have machine OS"},
  };
  for (const auto& row : rows) {
    write(disk_ + "/image.json", row.image);
    const Result<> taken = take();
    ASSERT_FALSE(taken.ok()) << row.image;
    EXPECT_NE(taken.error().message().find(row.expected), std::string::npos) << taken.error().message();
  }
}

TEST(Hardware, HasTheNumbersOfTheMachine) {
  const MachineRecord record{.name = "h0", .number = 0, .uuid = "0123456789abcdef0123456789abcdef", .is_blank = true};
  const Hardware hardware = hardware_of(record);
  const auto content = [&](const std::string& path) {
    const auto found = std::ranges::find(hardware.files, path, &FirmwareFile::path);
    return found == hardware.files.end() ? "none" : found->content;
  };
  EXPECT_EQ(content("/sys/class/dmi/id/product_uuid"), "01234567-89ab-cdef-0123-456789abcdef\n");
  EXPECT_EQ(content("/sys/class/dmi/id/product_serial"), "slipway-0123456789ab\n");
  EXPECT_EQ(content("/sys/block/vda/size"), "234375000\n");
  EXPECT_EQ(content("/sys/class/net/eth0/address"), "52:54:00:73:00:00\n");
}

}  // namespace
}  // namespace slipway::provider::local
