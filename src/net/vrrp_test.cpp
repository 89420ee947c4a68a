#include "net/vrrp.h"

#include "net/packets.h"

#include <gtest/gtest.h>

namespace slipway::net {
namespace {

using std::string_literals::operator""s;

IpAddress ip(std::string_view text) { return parse_ip(text).value(); }

TEST(VrrpFarewell, HasPriorityZeroAndTheChecksumOfTheReceivers) {
  const std::string message =
      vrrp_farewell({.interface = "eth0", .own = ip("10.97.77.11"), .router_id = 200, .address = ip("10.97.77.5")});
  EXPECT_EQ(message.substr(0, 6), "\x31\xc8\0\1\0\x32"s);
  EXPECT_EQ(message.substr(8), "\x0a\x61\x4d\x05"s);
  const std::string pseudo_header = "\x0a\x61\x4d\x0b\xe0\0\0\x12\0\x70\0\x0c"s;
  EXPECT_EQ(internet_checksum(pseudo_header + message), 0u);
}

TEST(VrrpFarewell, LeavesTheChecksumOfIpv6ToTheKernel) {
  const std::string message =
      vrrp_farewell({.interface = "eth0", .own = ip("fd00::11"), .router_id = 7, .address = ip("fd00::5")});
  EXPECT_EQ(message.substr(0, 8), "\x31\7\0\1\0\x32\0\0"s);
  EXPECT_EQ(message.substr(8), "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5"s);
}

TEST(SendVrrpFarewell, NamesAnUnknownInterface) {
  const Result<> sent =
      send_vrrp_farewell({.interface = "no-such-if", .own = ip("127.0.0.1"), .router_id = 7, .address = ip("127.0.0.2")});
  ASSERT_FALSE(sent.ok());
  EXPECT_TRUE(sent.error().code() == Code::not_found || sent.error().code() == Code::denied) << sent.error().message();
}

}  // namespace
}  // namespace slipway::net
