#include "agent/addresses.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

net::Cidr cidr(std::string_view text) { return net::parse_cidr(text).value(); }

TEST(ScanParts, OfNetworks) {
  struct Case {
    const char* network;
    std::size_t most, parts, addresses;
    const char *first, *last;
  };
  for (const auto& [network, most, parts, addresses, first, last] :
       std::vector<Case>{{"192.168.1.77/24", 16384, 1, 254, "192.168.1.1", "192.168.1.254"},
                         {"10.0.0.0/22", 16384, 1, 1022, "10.0.0.1", "10.0.3.254"},
                         {"10.0.0.0/21", 16384, 3, 2046, "10.0.0.1", "10.0.7.254"},
                         {"10.0.0.0/8", 16384, 17, 16384, "10.0.0.1", "10.0.64.0"},
                         {"10.0.0.4/31", 16384, 1, 2, "10.0.0.4", "10.0.0.5"},
                         {"10.0.0.4/32", 16384, 1, 1, "10.0.0.4", "10.0.0.4"},
                         {"0.0.0.0/0", 10, 1, 10, "0.0.0.1", "0.0.0.10"}}) {
    const auto found = scan_parts(cidr(network), most);
    std::vector<net::IpAddress> all;
    for (const auto& part : found) {
      EXPECT_LE(part.size(), 1022u);
      all.insert(all.end(), part.begin(), part.end());
    }
    EXPECT_EQ(found.size(), parts) << network;
    EXPECT_EQ(all.size(), addresses) << network;
    EXPECT_EQ(net::to_string(all.front()), first);
    EXPECT_EQ(net::to_string(all.back()), last);
  }
}

}  // namespace
}  // namespace slipway::agent
