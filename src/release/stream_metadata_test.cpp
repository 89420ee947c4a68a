#include "release/stream_metadata.h"

#include "release/disk_image.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::release {
namespace {

TEST(StreamMetadata, NamesOfFilesCanBeReadAgain) {
  for (const DiskPlatform& platform : disk_platforms()) {
    for (const std::string version : {"0.1.0", "4.20.0-okd-scos.3"}) {
      const DiskImageFile image{version, std::string(platform.name), std::string(platform.format)};
      EXPECT_EQ(parse_file_name(file_name(image)), image) << file_name(image);
    }
  }
  EXPECT_TRUE(parse_file_name("slipway-0.1.0-metal.x86_64.iso"));
  EXPECT_EQ(file_name({"0.1.0", "gcp", "tar.gz"}), "slipway-0.1.0-gcp.x86_64.tar.gz");
}

TEST(StreamMetadata, OtherNamesAreNoImages) {
  for (const std::string name :
       {"", "slipway", "slipway-0.1.0-qemu.x86_64", "slipway-0.1.0-qemu.x86_64.iso", "slipway-0.1.0-moon.x86_64.raw",
        "slipway-qemu.x86_64.raw", "slipway--qemu.x86_64.raw", "other-0.1.0-qemu.x86_64.raw", "slipway-0.1.0-qemu.aarch64.raw",
        "slipway-0.1.0-qemu.x86_64.qcow2.raw-image"}) {
    EXPECT_EQ(parse_file_name(name), std::nullopt) << name;
  }
}

TEST(StreamMetadata, HasTheFormOfCoreOs) {
  const std::vector<ListedImage> images = {{{"0.1.0", "qemu", "qcow2"}, "https://example.com/old.qcow2", "00", 1},
                                           {{"0.2.0", "qemu", "qcow2"}, "https://example.com/a.qcow2", "aa", 1},
                                           {{"0.2.0", "qemu", "raw"}, "https://example.com/a.raw", "bb", 1},
                                           {{"0.2.0", "vmware", "ova"}, "https://example.com/a.ova", "cc", 1}};
  EXPECT_EQ(emit_json(stream_metadata(images), JsonStyle::compact),
            R"({"stream":"slipway","metadata":{"generator":"slipway 0.2.0"},"architectures":{"x86_64":{"artifacts":{)"
            R"("qemu":{"release":"0.2.0","formats":{"qcow2":{"disk":{"location":"https://example.com/a.qcow2","sha256":"aa"}},)"
            R"("raw":{"disk":{"location":"https://example.com/a.raw","sha256":"bb"}}}},)"
            R"("vmware":{"release":"0.2.0","formats":{"ova":{"disk":{"location":"https://example.com/a.ova","sha256":"cc"}}}}},)"
            R"("images":{}}}})");
  EXPECT_EQ(find_object(stream_metadata({}), {"architectures", "x86_64", "artifacts"}).size(), 0u);
}

}  // namespace
}  // namespace slipway::release
