#include "agent/disks.h"

#include "support/recorded_tree.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

using testing_support::RecordedTree;

// A server with a SCSI disk that holds LVM, an NVMe disk, an optical drive with the live medium, a USB stick, and devices to
// hide.
constexpr std::string_view server = R"(
/sys/block/sda/dev: 8:0
/sys/block/sda/size: 1953525168
/sys/block/sda/queue/rotational: 1
/sys/block/sda/removable: 0
/sys/block/sda/device/model: ST1000NX0443    \n
/sys/block/sda/device/vendor: SEAGATE \n
/sys/block/sda/device/scsi_device/0:0:1:0/x: y
/sys/block/sda/sda1/partition: 1
/sys/block/sda/sda1/dev: 8:1
/sys/block/sda/sda2/partition: 2
/sys/block/sda/sda2/dev: 8:2
/sys/block/sda/sda2/holders/dm-0/x: y
/run/udev/data/b8:0: S:disk/by-id/ata-ST1000\nS:disk/by-id/wwn-0x5000c500a0000001\nS:disk/by-path/pci-0000:00:1f.2-ata-1\nE:ID_SERIAL_SHORT=S470A\nE:ID_WWN=0x5000c500a0000001\nE:ID_PART_TABLE_TYPE=gpt
/sys/block/dm-0/dev: 253:0
/sys/block/dm-0/size: 2048
/sys/block/dm-0/dm/uuid: LVM-abc
/sys/block/dm-1/dev: 253:1
/sys/block/dm-1/size: 2048
/sys/block/dm-1/dm/uuid: CRYPT-LUKS2-abc
/sys/block/nvme0n1/dev: 259:0
/sys/block/nvme0n1/size: 781422768
/sys/block/nvme0n1/queue/rotational: 0
/sys/block/nvme0n1/device/model: INTEL SSDPE2KX040T8
/sys/block/nvme0n1/device/serial: PHLJ0000
/sys/block/nvme0n1/wwid: eui.01000000010000005cd2e4
/sys/block/nvme0n1/ro: 1
/sys/block/sr0/dev: 11:0
/sys/block/sr0/size: 2097152
/sys/block/sr0/removable: 1
/sys/block/sdb/dev: 8:16
/sys/block/sdb/size: 60000000
/sys/block/sdb/removable: 1
/sys/block/sdb/queue/rotational: 1
/sys/block/sdc/dev: 8:32
/sys/block/sdc/size: 0
/sys/block/loop0/dev: 7:0
/sys/block/loop0/size: 100
/proc/self/mountinfo: 22 1 8:1 / /boot rw,relatime - ext4 /dev/sda1 rw\n40 1 11:0 / /run/media/iso ro - iso9660 /dev/sr0 ro\nbroken
/proc/swaps: Filename Type Size Used Priority\n/dev/dm-0 partition 1 0 -2
)";

TEST(Disks, OfAServer) {
  RecordedTree recorded(server);
  const std::vector<assist::Disk> disks = read_disks(recorded.tree());
  std::vector<std::string> names;
  for (const assist::Disk& disk : disks) names.push_back(disk.name);
  ASSERT_EQ(names, (std::vector<std::string>{"dm-0", "nvme0n1", "sda", "sdb", "sr0"}));

  EXPECT_EQ(disks[0].drive_type, "LVM");
  EXPECT_EQ(disks[0].reasons,
            (std::vector<std::string>{"Disk is an LVM logical volume", "Disk is in use: dm-0 is swap space in use"}));

  EXPECT_EQ(disks[1], (assist::Disk{.id = "/dev/nvme0n1",
                                    .name = "nvme0n1",
                                    .path = "/dev/nvme0n1",
                                    .drive_type = "SSD",
                                    .model = "INTEL SSDPE2KX040T8",
                                    .serial = "PHLJ0000",
                                    .wwn = "eui.01000000010000005cd2e4",
                                    .size_bytes = 400'088'457'216,
                                    .reasons = {"Disk is read-only"}}));

  EXPECT_EQ(disks[2],
            (assist::Disk{.id = "/dev/disk/by-id/wwn-0x5000c500a0000001",
                          .name = "sda",
                          .path = "/dev/sda",
                          .by_id = "/dev/disk/by-id/wwn-0x5000c500a0000001",
                          .by_path = "/dev/disk/by-path/pci-0000:00:1f.2-ata-1",
                          .hctl = "0:0:1:0",
                          .drive_type = "HDD",
                          .model = "ST1000NX0443",
                          .vendor = "SEAGATE",
                          .serial = "S470A",
                          .wwn = "0x5000c500a0000001",
                          .size_bytes = 1'000'204'886'016,
                          .bootable = true,
                          .reasons = {"Disk is in use: sda1 is mounted on /boot", "Disk is in use: dm-0 is swap space in use"}}));

  EXPECT_EQ(disks[3].reasons, (std::vector<std::string>{"Disk is removable"}));
  EXPECT_FALSE(disks[3].bootable);

  EXPECT_EQ(disks[4].drive_type, "ODD");
  EXPECT_TRUE(disks[4].is_installation_media);
}

TEST(Disks, PathsOfAMultipathDiskAreHidden) {
  RecordedTree recorded(R"(
/sys/block/sda/size: 100
/sys/block/sda/holders/dm-0/x: y
/sys/block/sdb/size: 100
/sys/block/sdb/holders/dm-0/x: y
/sys/block/dm-0/size: 100
/sys/block/dm-0/dm/uuid: mpath-36000
)");
  const std::vector<assist::Disk> disks = read_disks(recorded.tree());
  ASSERT_EQ(disks.size(), 1u);
  EXPECT_EQ(disks[0].drive_type, "Multipath");
  EXPECT_TRUE(disks[0].reasons.empty());
}

TEST(Disks, ISCSINeedsTheFirmware) {
  RecordedTree recorded(R"(
/sys/block/sda/dev: 8:0
/sys/block/sda/size: 100
/run/udev/data/b8:0: S:disk/by-path/ip-10.0.0.1:3260-iscsi-iqn.2024-lun-0
)");
  EXPECT_EQ(read_disks(recorded.tree()).at(0).reasons.size(), 1u);
  recorded.put("/sys/firmware/ibft/initiator/flags: 3");
  EXPECT_TRUE(read_disks(recorded.tree()).at(0).reasons.empty());
}

TEST(Disks, NoneInAContainer) {
  RecordedTree recorded("/proc/self/mountinfo: ");
  EXPECT_TRUE(read_disks(recorded.tree()).empty());
}

}  // namespace
}  // namespace slipway::agent
