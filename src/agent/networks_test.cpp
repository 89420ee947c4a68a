#include "agent/networks.h"

#include "support/recorded_tree.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

using testing_support::RecordedTree;

net::Cidr cidr(std::string_view text) { return net::parse_cidr(text).value(); }

constexpr std::string_view cables = R"(
/sys/class/net/lo/type: 772
/sys/class/net/eno1/type: 1
/sys/class/net/eno1/address: 52:54:00:00:00:FF
/sys/class/net/eno1/bonding_slave/perm_hwaddr: 52:54:00:00:00:01
/sys/class/net/eno1/mtu: 9000
/sys/class/net/eno1/carrier: 1
/sys/class/net/eno1/speed: 25000
/sys/class/net/eno1/device/vendor: 0x8086
/sys/class/net/eno1/device/device: 0x159b
/sys/class/net/bond0/type: 1
/sys/class/net/bond0/address: 52:54:00:00:00:ff
/sys/class/net/bond0/mtu: 9000
/sys/class/net/bond0/speed: -1
/sys/class/net/bond0/uevent: DEVTYPE=bond\nINTERFACE=bond0\nIFINDEX=4
/sys/class/net/host0/type: 1
/sys/class/net/host0/address: 52:54:00:00:00:05
/sys/class/net/host0/uevent: INTERFACE=host0\nIFINDEX=2
/sys/class/net/host0/ifindex: 2
/sys/class/net/host0/iflink: 17
/sys/class/net/dummy0/type: 1
/sys/class/net/dummy0/ifindex: 9
/sys/class/net/dummy0/iflink: 9
/sys/class/net/flannel.1/type: 1
/sys/class/net/flannel.1/ifindex: 7
/sys/class/net/flannel.1/iflink: 7
/sys/class/net/flannel.1/uevent: DEVTYPE=vxlan
)";

TEST(Interfaces, OfAMachine) {
  RecordedTree recorded(cables);
  const std::vector<assist::Interface> found =
      read_interfaces(recorded.tree(), {{.interface = "bond0", .address = cidr("192.168.1.5/24")},
                                        {.interface = "bond0", .address = cidr("fe80::1/64"), .is_link_local = true},
                                        {.interface = "bond0", .address = cidr("fd00::5/64")},
                                        {.interface = "host0", .address = cidr("10.0.0.1/8")}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], (assist::Interface{.name = "bond0",
                                         .mac_address = "52:54:00:00:00:ff",
                                         .type = "bond",
                                         .mtu = 9000,
                                         .addresses = {cidr("192.168.1.5/24"), cidr("fd00::5/64")}}));
  EXPECT_EQ(found[1], (assist::Interface{.name = "eno1",
                                         .mac_address = "52:54:00:00:00:01",
                                         .type = "physical",
                                         .mtu = 9000,
                                         .speed_mbps = 25000,
                                         .has_carrier = true,
                                         .vendor = "0x8086",
                                         .product = "0x159b"}));
  EXPECT_EQ(found[2].name, "host0");
  EXPECT_EQ(found[2].type, "physical");
}

TEST(Routes, OfBothFamilies) {
  RecordedTree recorded("");
  recorded.put(
      "/proc/net/route: Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\\n"
      "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\\n"
      "eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\\n"
      "lo\t0000007F\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\\n"
      "eth0\t0002A8C0\t00000000\t0200\t0\t0\t0\t00FFFFFF\t0\t0\t0");
  recorded.put(
      "/proc/net/ipv6_route: "
      "fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 "
      "00000001 "
      "00000000 00000001 eth0\\n"
      "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 "
      "00000001 "
      "00000000 00000003 eth0\\n"
      "00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff "
      "00000001 "
      "00000000 00200200 lo\\n"
      "fd000000000000000000000000000005 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 "
      "00000001 "
      "00000000 80200001 eth0\\n"
      "ff000000000000000000000000000000 08 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 "
      "00000001 "
      "00000000 00000001 eth0");
  EXPECT_EQ(read_routes(recorded.tree()),
            (std::vector<assist::Route>{
                {.interface = "eth0", .gateway = "192.168.1.1", .destination = "0.0.0.0", .prefix = 0, .metric = 100},
                {.interface = "eth0", .gateway = "", .destination = "192.168.1.0", .prefix = 24, .metric = 100},
                {.interface = "eth0", .gateway = "", .destination = "fd00::", .prefix = 64, .metric = 256},
                {.interface = "eth0", .gateway = "fe80::1", .destination = "::", .prefix = 0, .metric = 1024}}));
}

}  // namespace
}  // namespace slipway::agent
