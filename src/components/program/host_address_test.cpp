#include "components/program/host_address.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

// Output of `ip -json address` on a bootstrap machine of platform local; keepalived holds the API address.
constexpr std::string_view answer = R"([
 {"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"operstate":"UNKNOWN","addr_info":[
  {"family":"inet","local":"127.0.0.1","prefixlen":8,"scope":"host","label":"lo"},{"family":"inet6","local":"::1","prefixlen":128,"scope":"host"}]},
 {"ifindex":2,"ifname":"down0","flags":["BROADCAST","MULTICAST"],"operstate":"DOWN","addr_info":[
  {"family":"inet","local":"10.97.77.9","prefixlen":24,"scope":"global"}]},
 {"ifindex":3,"ifname":"host0","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"operstate":"UP","addr_info":[
  {"family":"inet","local":"10.97.77.5","prefixlen":32,"scope":"global"},
  {"family":"inet","local":"10.97.77.10","prefixlen":24,"scope":"global"},
  {"family":"inet6","local":"fd00::9","prefixlen":64,"scope":"global","deprecated":true},
  {"family":"inet6","local":"fd00::10","prefixlen":64,"scope":"global"},
  {"family":"inet6","local":"fe80::1","prefixlen":64,"scope":"link"}]},{}])";

std::vector<net::Cidr> networks(std::initializer_list<const char*> texts) {
  std::vector<net::Cidr> all;
  for (const char* text : texts) all.push_back(net::parse_cidr(text).value());
  return all;
}

std::string choose(bool v4, const std::vector<net::Cidr>& machine_networks) {
  const auto chosen =
      choose_host_address(parse_host_addresses(answer).value(), v4, machine_networks, {net::parse_ip("10.97.77.5").value()});
  return chosen.ok() ? to_string(chosen.value()) : chosen.error().message();
}

TEST(HostAddress, LiesInTheMachineNetworkAndIsNeitherVirtualNorDown) {
  EXPECT_EQ(choose(true, networks({"10.97.77.0/24"})), "10.97.77.10");
  EXPECT_EQ(choose(true, networks({"192.168.0.0/16", "10.97.77.0/24"})), "10.97.77.10");
  EXPECT_EQ(choose(false, networks({"10.97.77.0/24", "fd00::/64"})), "fd00::10");
}

TEST(HostAddress, IsTheFirstGlobalOneOtherwise) {
  EXPECT_EQ(choose(true, networks({"192.168.0.0/16"})), "10.97.77.10");
  EXPECT_EQ(choose(false, {}), "fd00::10");
}

TEST(HostAddress, ComesFromNoNetworkForDocumentation) {
  EXPECT_NE(choose(true, networks({"192.0.2.0/25"})).find("reserved for documentation"), std::string::npos);
}

TEST(HostAddress, NamesWhatThereIsWhenNoneFits) {
  const auto lonely =
      parse_host_addresses(R"([{"ifname":"lo","flags":["UP"],"addr_info":[{"local":"127.0.0.1","scope":"host"}]}])");
  const auto chosen = choose_host_address(lonely.value(), true, {}, {});
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.error().message(),
            "this machine has no IPv4 address that can be used in the cluster (addresses: lo 127.0.0.1)");
}

}  // namespace
}  // namespace slipway::components
