#include "net/ip.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::net {
namespace {

IpAddress ip(std::string_view text) { return parse_ip(text).value(); }
Cidr cidr(std::string_view text) { return parse_cidr(text).value(); }

TEST(IpAddress, IsReadAndWrittenInItsCanonicalForm) {
  struct Case {
    const char* text;
    bool v4;
    const char* canonical;
  };
  const Case cases[] = {
      {"0.0.0.0", true, "0.0.0.0"},
      {"10.97.77.5", true, "10.97.77.5"},
      {"255.255.255.255", true, "255.255.255.255"},
      {"::ffff:10.0.0.1", true, "10.0.0.1"},
      {"::FFFF:a00:1", true, "10.0.0.1"},
      {"::", false, "::"},
      {"::1", false, "::1"},
      {"0:0:0:0:0:0:0:1", false, "::1"},
      {"fd00::", false, "fd00::"},
      {"FD00:0000:0000:0000:0000:0000:0000:0005", false, "fd00::5"},
      {"2001:db8::1:5", false, "2001:db8::1:5"},
      // RFC 5952 4.2: the longest run, the first of equal runs, and never a single group.
      {"2001:db8:0:0:1:0:0:1", false, "2001:db8::1:0:0:1"},
      {"2001:0:0:1:0:0:0:1", false, "2001:0:0:1::1"},
      {"2001:db8:0:1:1:1:1:1", false, "2001:db8:0:1:1:1:1:1"},
      {"0:1:2:3:4:5:6:7", false, "0:1:2:3:4:5:6:7"},
      {"1:0:0:0:0:0:0:0", false, "1::"},
      // No mixed notation: this is not an IPv4 address.
      {"::1:5", false, "::1:5"},
      {"::1.2.3.4", false, "::102:304"},
  };
  for (const Case& c : cases) {
    auto address = parse_ip(c.text);
    ASSERT_TRUE(address.ok()) << c.text;
    EXPECT_EQ(address->is_v4(), c.v4) << c.text;
    EXPECT_EQ(to_string(address.value()), c.canonical);
    EXPECT_EQ(ip(c.canonical), address.value());
  }
}

TEST(IpAddress, RefusesOtherForms) {
  using namespace std::string_view_literals;
  for (std::string_view text : {""sv, "1.2.3"sv, "1.2.3.4.5"sv, "01.2.3.4"sv, "1.2.3.256"sv, "0x1.2.3.4"sv, " 1.2.3.4"sv,
                                "1.2.3.4 "sv, "1.2.3.4\0"sv, "::1\0x"sv, "1.2.3.4/8"sv, "fe80::1%eth0"sv, "[::1]"sv, ":::"sv,
                                "1::2::3"sv, "12345::"sv, "1:2:3:4:5:6:7"sv, "1:2:3:4:5:6:7:8:9"sv, "api.example.com"sv}) {
    EXPECT_FALSE(is_ip(text)) << text;
    EXPECT_EQ(parse_ip(text).error().code(), Code::invalid) << text;
  }
  EXPECT_EQ(parse_ip("localhost").error().message(), "'localhost' is not an IP address");
}

TEST(IpAddress, SortsByFamilyThenNumber) {
  std::vector<IpAddress> addresses = {ip("10.0.0.10"), ip("::2"), ip("9.255.255.255"), ip("::1"), ip("10.0.0.9")};
  std::ranges::sort(addresses);
  EXPECT_EQ(addresses, (std::vector{ip("::1"), ip("::2"), ip("9.255.255.255"), ip("10.0.0.9"), ip("10.0.0.10")}));
  EXPECT_NE(ip("0.0.0.0"), ip("::"));
}

TEST(IpAddress, CountsUpAndKnowsItsEnd) {
  struct Case {
    const char* from;
    std::uint64_t count;
    const char* sum;  // null: none
  };
  const Case cases[] = {
      {"10.0.0.255", 1, "10.0.1.0"},
      {"10.0.0.0", 0x01020304, "11.2.3.4"},
      {"255.255.255.255", 0, "255.255.255.255"},
      {"255.255.255.255", 1, nullptr},
      {"0.0.0.0", 0xffffffff, "255.255.255.255"},
      {"0.0.0.0", 0x100000000, nullptr},
      {"fd00::ffff:ffff:ffff:ffff", 1, "fd00:0:0:1::"},
      {"::", 0xffffffffffffffff, "::ffff:ffff:ffff:ffff"},
      {"::ffff:ffff:ffff:ffff", 0xffffffffffffffff, "::1:ffff:ffff:ffff:fffe"},
      {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 1, nullptr},
  };
  for (const Case& c : cases) {
    auto sum = ip(c.from).plus(c.count);
    ASSERT_EQ(sum.ok(), c.sum != nullptr) << c.from << " + " << c.count;
    if (c.sum != nullptr) {
      EXPECT_EQ(to_string(sum.value()), c.sum);
    }
  }
  EXPECT_EQ(ip("255.255.255.250").plus(6).error().message(), "no address at that distance above 255.255.255.250");
}

TEST(HostAndPort, PutsBracketsWhereTheyBelong) {
  EXPECT_EQ(host_and_port("fd00::5", 6443), "[fd00::5]:6443");
  EXPECT_EQ(host_and_port("10.97.77.5", 6443), "10.97.77.5:6443");
  EXPECT_EQ(host_and_port("api.example.com", 443), "api.example.com:443");
}

TEST(Cidr, KnowsItsNetworkAndHostBits) {
  struct Case {
    const char* text;
    const char* network;
    bool host_bits;
  };
  const Case cases[] = {
      {"10.97.77.0/24", "10.97.77.0", false},    {"10.97.77.5/24", "10.97.77.0", true}, {"10.128.0.0/14", "10.128.0.0", false},
      {"10.131.255.255/14", "10.128.0.0", true}, {"10.0.0.1/32", "10.0.0.1", false},    {"10.0.0.1/0", "0.0.0.0", true},
      {"0.0.0.0/0", "0.0.0.0", false},           {"fd01::/48", "fd01::", false},        {"fd01::5/64", "fd01::", true},
      {"fd01:8000::/17", "fd01:8000::", false},  {"fd01:8000::/16", "fd01::", true},    {"::1/128", "::1", false},
  };
  for (const Case& c : cases) {
    auto network = parse_cidr(c.text);
    ASSERT_TRUE(network.ok()) << c.text;
    EXPECT_EQ(to_string(network.value()), c.text);
    EXPECT_EQ(to_string(network->network()), c.network) << c.text;
    EXPECT_EQ(network->has_host_bits(), c.host_bits) << c.text;
  }
  EXPECT_EQ(to_string(cidr("::ffff:10.0.0.0/104")), "10.0.0.0/8");
}

TEST(Cidr, SaysWhatIsWrong) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"10.0.0.0", "network '10.0.0.0': '/' and a prefix length are missing"},
      {"10.0.0/8", "network '10.0.0/8': '10.0.0' is not an IP address"},
      {"10.0.0.0/", "network '10.0.0.0/': '' is not a prefix length"},
      {"10.0.0.0/-1", "network '10.0.0.0/-1': '-1' is not a prefix length"},
      {"10.0.0.0/+8", "network '10.0.0.0/+8': '+8' is not a prefix length"},
      {"10.0.0.0/08", "network '10.0.0.0/08': '08' is not a prefix length"},
      {"10.0.0.0/8x", "network '10.0.0.0/8x': '8x' is not a prefix length"},
      {"10.0.0.0/99999999999", "network '10.0.0.0/99999999999': '99999999999' is not a prefix length"},
      {"10.0.0.0/33", "network '10.0.0.0/33': prefix length must be between 0 and 32"},
      {"fd00::/129", "network 'fd00::/129': prefix length must be between 0 and 128"},
      {"::ffff:10.0.0.0/8", "network '::ffff:10.0.0.0/8': prefix length must be between 96 and 128"},
  };
  for (const Case& c : cases) {
    auto network = parse_cidr(c.text);
    ASSERT_FALSE(network.ok()) << c.text;
    EXPECT_EQ(network.error().message(), c.message);
    EXPECT_EQ(network.error().code(), Code::invalid);
  }
}

TEST(Cidr, ContainsAndOverlaps) {
  struct Case {
    const char* a;
    const char* b;
    bool overlap;
  };
  const Case cases[] = {
      {"10.0.0.0/16", "10.0.5.0/24", true},      {"10.0.5.7/24", "10.0.5.9/24", true},  {"10.0.4.0/24", "10.0.5.0/24", false},
      {"10.128.0.0/14", "10.132.0.0/14", false}, {"0.0.0.0/0", "10.0.0.0/8", true},     {"0.0.0.0/0", "::/0", false},
      {"fd00::/48", "fd00:0:0:1::/64", true},    {"fd00::/48", "fd00:0:1::/48", false}, {"::/0", "fd00::/8", true},
      {"10.0.0.5/32", "10.0.0.5/32", true},      {"10.0.0.4/32", "10.0.0.5/32", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(cidr(c.a).overlaps(cidr(c.b)), c.overlap) << c.a << " " << c.b;
    EXPECT_EQ(cidr(c.b).overlaps(cidr(c.a)), c.overlap) << c.b << " " << c.a;
  }
  EXPECT_TRUE(cidr("10.97.77.9/24").contains(ip("10.97.77.255")));
  EXPECT_FALSE(cidr("10.97.77.9/24").contains(ip("10.97.78.0")));
  EXPECT_TRUE(cidr("10.97.77.0/24").contains(ip("::ffff:10.97.77.1")));
  EXPECT_FALSE(cidr("::/0").contains(ip("10.0.0.1")));
}

TEST(Cidr, NumbersItsHosts) {
  EXPECT_EQ(to_string(cidr("172.30.0.0/16").host(1).value()), "172.30.0.1");
  EXPECT_EQ(to_string(cidr("172.30.9.9/16").host(10).value()), "172.30.0.10");
  EXPECT_EQ(to_string(cidr("10.0.0.0/8").host(0xffffff).value()), "10.255.255.255");
  EXPECT_EQ(to_string(cidr("fd02::/112").host(10).value()), "fd02::a");
  EXPECT_EQ(to_string(cidr("255.255.255.0/24").host(255).value()), "255.255.255.255");
  for (const char* network : {"10.0.0.0/24", "255.255.255.0/24", "fd00::/120"}) {
    EXPECT_EQ(cidr(network).host(256).error().code(), Code::invalid);
  }
  EXPECT_EQ(cidr("10.0.0.0/24").host(256).error().message(), "10.0.0.0/24 has no address number 256");
}

TEST(Ip, OfThePacketsBytes) {
  EXPECT_EQ(to_string(ip_of_bytes(std::string("\x0a\0\0\1", 4)).value()), "10.0.0.1");
  EXPECT_EQ(to_string(ip_of_bytes(std::string("\xfd", 1) + std::string(14, '\0') + "\5").value()), "fd00::5");
  EXPECT_EQ(to_string(ip_of_bytes(std::string(10, '\0') + "\xff\xff\x0a\1\2\3").value()), "10.1.2.3");
  for (const std::size_t size : {0, 3, 5, 15, 17}) EXPECT_FALSE(ip_of_bytes(std::string(size, '\0')).ok()) << size;
}

}  // namespace
}  // namespace slipway::net
