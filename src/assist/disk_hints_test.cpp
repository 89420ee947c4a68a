#include "assist/disk_hints.h"

#include "assist/test_hosts.h"

#include <gtest/gtest.h>

namespace slipway::assist {
namespace {

TEST(DiskHints, MeanTheFirstDiskThatMatchesAllOfThem) {
  Inventory inventory = test_inventory("a");
  inventory.disks = {{.id = "/dev/disk/by-id/wwn-0x1",
                      .name = "sda",
                      .path = "/dev/sda",
                      .by_path = "/dev/disk/by-path/pci-1",
                      .hctl = "0:0:0:0",
                      .drive_type = "HDD",
                      .model = "Old Drive",
                      .vendor = "ACME",
                      .serial = "S1",
                      .wwn = "0x5000c5001",
                      .size_bytes = std::uint64_t{200} << 30},
                     {.id = "/dev/sdb",
                      .name = "sdb",
                      .path = "/dev/sdb",
                      .hctl = "0:0:1:0",
                      .drive_type = "SSD",
                      .model = "New Drive",
                      .serial = "S2",
                      .wwn = "0x5000c5002ext",
                      .size_bytes = std::uint64_t{400} << 30},
                     {.id = "/dev/sdc", .name = "sdc", .path = "/dev/sdc", .drive_type = "SSD", .size_bytes = 1}};
  struct Case {
    Json hints;
    std::string_view name;  // of the disk; "": none
  };
  const Case cases[] = {
      {JsonObject(), "sda"},
      {{{"deviceName", "/dev/sdb"}}, "sdb"},
      {{{"deviceName", "/dev/disk/by-path/pci-1"}}, "sda"},
      {{{"deviceName", "/dev/sdc"}}, ""},  // too small
      {{{"hctl", "0:0:1:0"}}, "sdb"},
      {{{"model", "New"}}, "sdb"},
      {{{"model", "Drive"}, {"vendor", "AC"}}, "sda"},
      {{{"model", "New"}, {"vendor", "ACME"}}, ""},
      {{{"serialNumber", "S2"}}, "sdb"},
      {{{"serialNumber", "S"}}, ""},
      {{{"wwn", "0x5000c5002"}}, "sdb"},
      {{{"minSizeGigabytes", 300}}, "sdb"},
      {{{"minSizeGigabytes", 500}}, ""},
      {{{"rotational", false}}, "sdb"},
      {{{"rotational", true}}, "sda"},
  };
  for (const Case& each : cases) {
    const Disk* found = find_hinted_disk(inventory, requirements_of(Role::master, false), each.hints);
    EXPECT_EQ(found ? found->name : "", each.name) << emit_json(each.hints, JsonStyle::compact);
  }
}

}  // namespace
}  // namespace slipway::assist
