#include "agent/inventory.h"

#include "support/recorded_tree.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

using testing_support::RecordedTree;

using std::string_literals::operator""s;

constexpr std::string_view machine = R"(
/proc/cpuinfo: processor : 0\nmodel name : Intel(R) Xeon(R) Gold\nflags  : fpu vmx\nprocessor : 1\nmodel name : Intel(R) Xeon(R) Gold\nflags  : fpu
/proc/meminfo: MemTotal:       16384000 kB\nMemFree: 1 kB
/proc/sys/kernel/hostname: Master-0
/sys/class/dmi/id/sys_vendor: Dell Inc.
/sys/class/dmi/id/product_name: PowerEdge R640
/sys/class/dmi/id/product_serial: 4F3XYZ2
/sys/class/dmi/id/board_serial: .4F3XYZ2.CN7475.
/sys/class/dmi/id/product_uuid: 4c4c4544-0046-3310-8058-b4c04f583232
/sys/class/tpm/tpm0/tpm_version_major: 2
/sys/firmware/efi/fw_platform_size: 64
/sys/bus/pci/devices/0000:3b:00.0/class: 0x030200
/sys/bus/pci/devices/0000:3b:00.0/vendor: 0x10de
/sys/bus/pci/devices/0000:3b:00.0/device: 0x20b0
/sys/bus/pci/devices/0000:00:00.0/class: 0x060000
/sys/class/net/eno1/type: 1
/sys/class/net/eno1/address: 52:54:00:00:00:01
/sys/class/net/eno1/device/vendor: 0x8086
)";

TEST(AgentInventory, OfAServer) {
  RecordedTree recorded(machine);
  const assist::Inventory found = read_inventory(recorded.tree(), {});
  EXPECT_EQ(found.hostname, "master-0");
  EXPECT_EQ(found.cpu_count, 2);
  EXPECT_EQ(found.cpu_model, "Intel(R) Xeon(R) Gold");
  EXPECT_EQ(found.usable_memory_bytes, 16384000ull * 1024);
  EXPECT_EQ(found.memory_bytes, found.usable_memory_bytes);
  EXPECT_EQ(found.boot_mode, "uefi");
  EXPECT_EQ(found.manufacturer, "Dell Inc.");
  EXPECT_EQ(found.product, "PowerEdge R640");
  EXPECT_EQ(found.serial_number, "4F3XYZ2");
  EXPECT_FALSE(found.is_virtual);
  EXPECT_EQ(found.tpm_version, "2.0");
  EXPECT_EQ(found.gpus, (std::vector<std::string>{"0000:3b:00.0 0x10de:0x20b0"}));
  EXPECT_EQ(found.interfaces.size(), 1u);
  EXPECT_EQ(assist::parse_inventory(assist::to_json(found), "inventory").value(), found);
}

TEST(AgentInventory, AHostNameThatSaysNothingBecomesTheMacAddress) {
  RecordedTree recorded(machine);
  for (const char* name : {"localhost", "LOCALHOST.localdomain", "(none)", ""}) {
    recorded.put(std::string("/proc/sys/kernel/hostname: ") + name);
    EXPECT_EQ(read_inventory(recorded.tree(), {}).hostname, "52-54-00-00-00-01") << name;
  }
}

// A memory device with this size field, and the long size.
std::string module(unsigned size, std::uint32_t long_size) {
  std::string bytes(0x28, '\0');
  bytes[0] = 17;
  bytes[1] = 0x28;
  bytes[0x0c] = static_cast<char>(size & 255);
  bytes[0x0d] = static_cast<char>(size >> 8);
  for (int i = 0; i < 4; ++i) bytes[static_cast<std::size_t>(0x1c + i)] = static_cast<char>(long_size >> (8 * i) & 255);
  return bytes + "DIMM A1\0Samsung\0\0"s;
}

TEST(InstalledMemory, OfTheFirmwareTables) {
  const std::string bios = "\x00\x05\x00\x00\x01\0\0"s, end = "\x7f\x04\x00\x00\0\0"s;
  struct Case {
    std::string tables;
    std::uint64_t bytes;
  };
  const std::uint64_t gib = 1ull << 30;
  for (const auto& [tables, bytes] :
       std::vector<Case>{{"", 0},
                         {bios + end, 0},
                         {bios + module(16384, 0) + module(0, 0) + module(16384, 0) + end, 32 * gib},
                         {bios + module(0x7fff, 65536) + end, 64 * gib},    // larger than the short field
                         {bios + module(0x8000 | 1024, 0) + end, 1 << 20},  // in kB
                         {bios + module(0xffff, 0) + end, 0},               // unknown
                         {bios + "\x11\xff"s, 0},                           // longer than the tables
                         {"\x11\x02\x00\x00"s, 0},                          // shorter than its header
                         {module(16384, 0).substr(0, 20), 0}}) {
    EXPECT_EQ(installed_memory(tables), bytes);
  }
}

TEST(HostId, IsStableAndTellsMachinesApart) {
  RecordedTree recorded(machine);
  const std::string id = host_id(recorded.tree(), "");
  EXPECT_EQ(id.size(), 36u);
  EXPECT_EQ(id[14], '8');
  EXPECT_EQ(host_id(recorded.tree(), ""), id);
  EXPECT_NE(host_id(recorded.tree(), "salt"), id);
  recorded.put("/proc/sys/kernel/hostname: another");
  recorded.put("/sys/class/dmi/id/sys_vendor: another");
  EXPECT_EQ(host_id(recorded.tree(), ""), id);
  recorded.put("/sys/class/net/eno1/address: 52:54:00:00:00:02");  // the same serial numbers in another machine
  EXPECT_NE(host_id(recorded.tree(), ""), id);
}

TEST(HostId, IgnoresPlaceholders) {
  RecordedTree recorded("/sys/class/net/eno1/type: 1");
  recorded.put("/sys/class/net/eno1/device/vendor: 1");
  recorded.put("/sys/class/net/eno1/address: 52:54:00:00:00:02");
  const std::string id = host_id(recorded.tree(), "");
  for (const char* text : {"Default string", "To Be Filled By O.E.M.", "00000000-0000-0000-0000-000000000000", "ffffffff",
                           "03000200-0400-0500-0006-000700080009", "None"}) {
    recorded.put(std::string("/sys/class/dmi/id/board_serial: ") + text);
    recorded.put(std::string("/sys/class/dmi/id/product_uuid: ") + text);
    EXPECT_EQ(host_id(recorded.tree(), ""), id) << text;
  }
  recorded.put("/sys/class/dmi/id/board_serial: A1");
  EXPECT_NE(host_id(recorded.tree(), ""), id);
}

TEST(AgentInventory, OfThisMachine) {
  sys::RealFiles files;
  const SystemTree tree(files, "");
  const assist::Inventory found = read_inventory(tree, net::interface_addresses().value());
  EXPECT_GT(found.cpu_count, 0);
  EXPECT_GT(found.memory_bytes, 1u << 20);
  EXPECT_FALSE(found.hostname.empty());
  EXPECT_EQ(assist::parse_inventory(assist::to_json(found), "inventory").value(), found);
}

}  // namespace
}  // namespace slipway::agent
