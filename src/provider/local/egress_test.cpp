#include "provider/local/egress.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

std::vector<net::Cidr> networks(const std::vector<std::string>& texts) {
  std::vector<net::Cidr> all;
  for (const std::string& text : texts) all.push_back(net::parse_cidr(text).value());
  return all;
}

TEST(Egress, UsesANetworkThatNobodyElseUses) {
  EXPECT_EQ(free_egress_network({}).value(), "100.64.0.0/24");
  EXPECT_EQ(free_egress_network(networks({"10.0.0.0/8", "100.64.0.0/22", "100.64.4.128/25"})).value(), "100.64.5.0/24");
  EXPECT_EQ(free_egress_network(networks({"100.0.0.0/8"})).error().code(), Code::conflict);
  EXPECT_EQ(egress_name_server("100.64.5.0/24"), "100.64.5.3");
}

TEST(Egress, ReadsTheRoutesOfTheHost) {
  const std::string routes =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
      "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
      "vpn\t00004064\t00000000\t0001\t0\t0\t0\t0000C0FF\t0\t0\t0\n";
  EXPECT_EQ(networks_of_routes(routes), networks({"192.0.2.0/24", "100.64.0.0/10"}));
}

TEST(Egress, ClosesWhatBelongsToTheHost) {
  const std::string command = join(egress_command("100.64.5.0/24", 4711), " ");
  EXPECT_NE(command.find(" --disable-host-loopback --enable-sandbox --enable-seccomp --cidr=100.64.5.0/24 "), std::string::npos);
  EXPECT_TRUE(command.ends_with(" /proc/4711/ns/net egress0"));
  const std::string rules = egress_rules(parse_network("10.97.77.0/24").value(), "100.64.5.0/24");
  EXPECT_NE(rules.find("ip daddr { 100.64.5.0/24, 127.0.0.0/8, 169.254.0.0/16, 100.100.100.200, "), std::string::npos) << rules;
  EXPECT_NE(rules.find("ip saddr 10.97.77.0/24 masquerade"), std::string::npos) << rules;
}

}  // namespace
}  // namespace slipway::provider::local
