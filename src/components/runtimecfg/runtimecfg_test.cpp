#include "components/runtimecfg/runtimecfg.h"

#include "data/data.h"

#include <gtest/gtest.h>

namespace slipway::components::runtimecfg {
namespace {

// Output of `ip -json address`, without fields that are not read.
const Json addresses = parse_json(R"([
  {"ifname": "lo", "addr_info": [{"family": "inet", "local": "127.0.0.1", "prefixlen": 8}]},
  {"ifname": "eth0", "addr_info": [{"family": "inet", "local": "192.168.1.4", "prefixlen": 24}]},
  {"ifname": "eth1", "addr_info": [{"family": "inet", "local": "10.97.77.5", "prefixlen": 32, "label": "vip"},
                                   {"family": "inet", "local": "10.97.77.10", "prefixlen": 24},
                                   {"family": "inet6", "local": "fd00::10", "prefixlen": 64}]}])",
                                  "ip")
                           .value();

TEST(InterfaceFor, IsTheOneInTheNetworkOfTheAddress) {
  EXPECT_EQ(interface_for(addresses, net::parse_ip("10.97.77.5").value()).value(), "eth1");
  EXPECT_EQ(interface_for(addresses, net::parse_ip("192.168.1.200").value()).value(), "eth0");
  EXPECT_EQ(interface_for(addresses, net::parse_ip("fd00::5").value()).value(), "eth1");
  const Error failure = interface_for(addresses, net::parse_ip("10.0.0.1").value()).error();
  EXPECT_EQ(failure.code(), Code::not_found);
  EXPECT_NE(failure.message().find("192.168.1.4/24"), std::string::npos);
}

TEST(ApiRouterId, IsInTheRangeOfVrrp) {
  // The checksum of "-api", calculated by hand: a is 0, 7, 14, 14 and b is 0, 7, 6, 5.
  EXPECT_EQ(api_router_id(""), (5 << 4 | 14) + 1);
  for (const char* name : {"demo", "a", "a-cluster-with-a-long-name", "zz"}) {
    EXPECT_GE(api_router_id(name), 1) << name;
    EXPECT_LE(api_router_id(name), 239) << name;
  }
}

TEST(OwnAddress, IsNeverTheVirtualOne) {
  EXPECT_EQ(to_string(own_address_for(addresses, net::parse_ip("10.97.77.5").value()).value()), "10.97.77.10");
  EXPECT_EQ(to_string(own_address_for(addresses, net::parse_ip("fd00::5").value()).value()), "fd00::10");
  EXPECT_EQ(own_address_for(addresses, net::parse_ip("10.0.0.1").value()).error().code(), Code::not_found);
}

TEST(IngressRouterId, IsNeverTheApis) {
  // The checksum of "-ingress", calculated by hand: a is 0, 0, 5, 3, 12, 8, 3, 13 and b is 0, 0, 5, 8, 5, 13, 1, 14.
  EXPECT_EQ(ingress_router_id(""), (14 << 4 | 13) + 1);
  for (int i = 0; i < 1000; ++i) {
    const std::string domain = fmt::format("{}.example.com", i);
    EXPECT_NE(ingress_router_id(domain), api_router_id(domain)) << domain;
    EXPECT_LE(ingress_router_id(domain), 239) << domain;
  }
}

const VirtualAddresses both{net::parse_ip("10.97.77.5").value(), net::parse_ip("fd00::7").value()};

TEST(KeepalivedValues, FillTheTemplates) {
  const TemplateValues values = keepalived_values("demo.example.com", both, addresses).value();
  const std::string folder = "/00/on-prem/files/etc/kubernetes/static-pod-resources/keepalived/";
  const std::string api = fmt::format("virtual_router_id {}\n", api_router_id("demo.example.com")),
                    ingress = fmt::format("virtual_router_id {}\n", ingress_router_id("demo.example.com"));
  struct Case {
    std::string name;
    std::vector<std::string> lines;
  };
  const Case cases[] = {
      {"bootstrap/keepalived.conf.tmpl", {"interface eth1\n", "10.97.77.5/32 label vip\n", api}},
      {"master" + folder + "instance-api.conf.tmpl", {"interface eth1\n", "10.97.77.5/32 label vip\n", api}},
      {"common" + folder + "instance-ingress.conf.tmpl", {"interface eth1\n", "fd00::7/128 label vip\n", ingress}},
      {"common" + folder + "keepalived.conf.tmpl", {"include /run/vrrp/instance-*.conf\n"}}};
  for (const Case& one : cases) {
    const Result<std::string> text = fill_template(data::content(data::machine_config(), one.name), one.name, values);
    ASSERT_TRUE(text.ok()) << text.error().message();
    for (const std::string& line : one.lines) EXPECT_NE(text->find(line), std::string::npos) << line << " in:\n" << text.value();
  }
}

TEST(KeepalivedValues, OnlyHaveTheGivenVirtualIps) {
  EXPECT_FALSE(keepalived_values("a", {.api = both.api}, addresses)->contains("INGRESS_ADDRESS"));
  EXPECT_FALSE(keepalived_values("a", {.ingress = both.ingress}, addresses)->contains("ADDRESS"));
}

}  // namespace
}  // namespace slipway::components::runtimecfg
