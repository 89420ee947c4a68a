#include "operators/machineconfig/runtimecfg.h"

#include "data/data.h"

#include <gtest/gtest.h>

namespace slipway::operators {
namespace {

// As `ip -json address` prints it, less what is not read.
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
  // Of "-api" by hand: a is 0, 7, 14, 14 and b is 0, 7, 6, 5.
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

TEST(KeepalivedValues, FillTheTemplates) {
  const TemplateValues values = keepalived_values("demo.example.com", net::parse_ip("10.97.77.5").value(), addresses).value();
  const std::string router = fmt::format("virtual_router_id {}\n", api_router_id("demo.example.com"));
  for (std::string_view name : {"bootstrap/keepalived.conf.tmpl",
                                "master/00/on-prem/files/etc/kubernetes/static-pod-resources/keepalived/keepalived.conf.tmpl"}) {
    const Result<std::string> text = fill_template(data::content(data::machine_config(), name), name, values);
    ASSERT_TRUE(text.ok()) << text.error().message();
    for (const std::string& line : {std::string("interface eth1\n"), std::string("10.97.77.5/32 label vip\n"), router}) {
      EXPECT_NE(text->find(line), std::string::npos) << line << " in:\n" << text.value();
    }
  }
}

}  // namespace
}  // namespace slipway::operators
