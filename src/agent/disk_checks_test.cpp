#include "agent/disk_checks.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

TEST(InstallationDisk, IsADiskOfTheInventoryThatIsNotInUse) {
  const std::vector<assist::Disk> disks = {
      {.id = "/dev/disk/by-id/wwn-1", .name = "sda", .path = "/dev/sda", .by_id = "/dev/disk/by-id/wwn-1"},
      {.id = "/dev/sdb",
       .name = "sdb",
       .path = "/dev/sdb",
       .reasons = {"Disk is in use: sdb1 is mounted on /", "Disk is removable"}}};
  EXPECT_EQ(find_installation_disk(disks, "/dev/sda")->name, "sda");
  EXPECT_EQ(find_installation_disk(disks, "/dev/disk/by-id/wwn-1")->name, "sda");
  const Error used = find_installation_disk(disks, "/dev/sdb").error();
  EXPECT_EQ(used.code(), Code::conflict);
  EXPECT_EQ(used.message(), "/dev/sdb: cannot be installed on: Disk is in use: sdb1 is mounted on /; Disk is removable");
  for (const char* other : {"", "/dev/sdc", "/etc/passwd", "/dev/../dev/sda"}) {
    EXPECT_EQ(find_installation_disk(disks, other).error().code(), Code::not_found) << other;
  }
}

}  // namespace
}  // namespace slipway::agent
