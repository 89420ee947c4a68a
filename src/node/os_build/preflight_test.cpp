#include "node/os_build/preflight.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

constexpr std::uint64_t gib = 1u << 30;

TEST(Space, OfOneFileSystemIsAddedUp) {
  const FreeSpace storage{"podman's storage", "/var/lib/containers", "/var", 5 * gib, 3 * gib};
  FreeSpace output{"the image", "/out", "/var", 5 * gib, 2 * gib};
  EXPECT_TRUE(check_space({storage, output}).ok());
  output.needed += 1;
  const Result<> result = check_space({storage, output});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::conflict);
  EXPECT_EQ(result.error().message(),
            "file system /var has 5.4 GB free, and the build needs 5.4 GB (podman's storage in /var/lib/containers, the image in "
            "/out) (enlarge the disk, or remove images with `podman image prune --all`)");
  output.file_system = "/out";
  EXPECT_TRUE(check_space({storage, output}).ok());
}

TEST(Space, IsReadFromDf) {
  EXPECT_EQ(parse_free_space("      Avail Mounted on\n68174733312 /var\n").value(),
            std::pair(std::uint64_t{68174733312}, std::string("/var")));
  EXPECT_EQ(parse_free_space("Avail Mounted on\n 17 /with a blank\n").value().second, "/with a blank");
  for (const char* text : {"", "Avail Mounted on\n", "Avail\n-\n", "17 /\n"}) EXPECT_FALSE(parse_free_space(text).ok()) << text;
}

TEST(Memory, IsThatWhichIsAvailable) {
  EXPECT_TRUE(check_memory("MemTotal:        8000000 kB\nMemAvailable:     600000 kB\n").ok());
  const Result<> result = check_memory("MemTotal:        8000000 kB\nMemAvailable:     500000 kB\n");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::conflict);
  EXPECT_EQ(result.error().message(),
            "the machine has 512 MB of memory free, and the build needs 537 MB (give the machine more memory)");
  EXPECT_EQ(check_memory("").error().code(), Code::internal);
}

TEST(Needs, GrowWithTheBaseImage) {
  EXPECT_EQ(storage_needs(300u << 20), (1800u << 20) + gib);
  EXPECT_EQ(output_needs(300u << 20), (600u << 20) + gib);
}

TEST(Logins, MustHaveTheRepository) {
  const machineconfig::OsBuild build{.repository = "r.example.com/team/os", .registry = "r.example.com"};
  EXPECT_TRUE(check_logins(build, Secret(R"({"auths":{"r.example.com/team":{"auth":"dTpw"}}})"), "l.json").ok());
  const Result<> result = check_logins(build, Secret(R"({"auths":{"r.example.com/other":{"auth":"dTpw"}}})"), "l.json");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::denied);
  EXPECT_EQ(result.error().message(),
            "l.json has no login for r.example.com/team/os, to which the image is pushed (correct renderedImagePushSecret)");
}

}  // namespace
}  // namespace slipway::node
