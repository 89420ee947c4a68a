#include "agent/connectivity.h"

#include "agent/links.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

net::IpAddress ip(std::string_view text) { return net::parse_ip(text).value(); }
net::Cidr cidr(std::string_view text) { return net::parse_cidr(text).value(); }
Json json(std::string_view text) { return parse_json(text, "test").value(); }

const std::vector<assist::Interface> interfaces = {
    {.name = "ens3", .mac_address = "52:54:00:00:00:01", .addresses = {cidr("192.168.1.5/24"), cidr("fd00::5/64")}},
    {.name = "ens4", .mac_address = "52:54:00:00:00:02", .mtu = 9000, .addresses = {cidr("10.0.0.5/8")}}};
const std::vector<assist::Route> routes = {
    {.interface = "ens4", .gateway = "10.0.0.1", .destination = "0.0.0.0", .metric = 200},
    {.interface = "ens3", .gateway = "192.168.1.1", .destination = "0.0.0.0", .metric = 100}};

TEST(Connectivity, ReadsHosts) {
  EXPECT_EQ(parse_remote_hosts(json(R"([{"host_id": "a", "nics": [
              {"name": "eth0", "mac": "52:54:00:00:00:AA", "ip_addresses": ["192.168.1.6", "fe80::1", "fd00::6/64"]}]},
              {"host_id": "b"}])"))
                .value(),
            (std::vector<RemoteHost>{{"a", {"52:54:00:00:00:aa"}, {ip("192.168.1.6"), ip("fd00::6")}}, {"b", {}, {}}}));
}

TEST(Connectivity, SaysAllThatIsWrong) {
  const std::string message = parse_remote_hosts(json(R"([{"nics": [{"mac": "x", "ip_addresses": ["y"]}]}])")).error().message();
  for (const char* part : {"hosts[0].host_id: missing", "hosts[0].nics[0].mac: 'x' is not a MAC address",
                           "hosts[0].nics[0].ip_addresses: 'y' is not an IP address"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
  EXPECT_FALSE(parse_remote_hosts(nullptr).ok());
}

TEST(Connectivity, PlansProbes) {
  const auto plan = plan_probes(interfaces, routes,
                                {{"a", {}, {ip("192.168.1.6"), ip("10.1.1.1"), ip("172.16.0.1"), ip("fd00::6"), ip("fd01::6")}}});
  EXPECT_EQ(
      plan.at("a"),
      (std::vector<Probe>{
          {.target = ip("192.168.1.6"), .interface = "ens3", .own_address = "192.168.1.5", .is_on_link = true},
          {.target = ip("10.1.1.1"), .interface = "ens4", .own_address = "10.0.0.5", .is_on_link = true, .largest_payload = 8972},
          {.target = ip("172.16.0.1"), .interface = "ens3", .own_address = ""},
          {.target = ip("fd00::6"), .interface = "ens3", .own_address = "fd00::5", .is_on_link = true}}));
  EXPECT_TRUE(plan_probes(interfaces, routes, {{"a", {}, {ip("192.168.1.5")}}}).at("a").empty() == false);
}

TEST(Connectivity, Reports) {
  const std::vector<RemoteHost> hosts = {{"a", {"52:54:00:00:00:aa"}, {ip("192.168.1.6")}}, {"b", {}, {ip("10.1.1.1")}}};
  const Probe link{.target = ip("192.168.1.6"), .interface = "ens3", .own_address = "192.168.1.5", .is_on_link = true};
  const Probe large{
      .target = ip("10.1.1.1"), .interface = "ens4", .own_address = "10.0.0.5", .is_on_link = true, .largest_payload = 8972};
  const Json report = connectivity_report(hosts,
                                          {{"a",
                                            {{.probe = link,
                                              .macs = {"52:54:00:00:00:aa", "52:54:00:00:00:bb"},
                                              .echo = {.sent = 10, .received = 9, .average_ms = 1.5}}}},
                                           {"b", {{.probe = large, .echo = {.sent = 10}}}}},
                                          {{ip("192.168.1.5"), {"52:54:00:00:00:01", "52:54:00:00:00:cc"}}});
  EXPECT_EQ(report, json(R"({"remote_hosts": [
    {"host_id": "a",
     "l2_connectivity": [
       {"outgoing_nic": "ens3", "outgoing_ip_address": "192.168.1.5", "remote_ip_address": "192.168.1.6",
        "remote_mac": "52:54:00:00:00:aa", "successful": true},
       {"outgoing_nic": "ens3", "outgoing_ip_address": "192.168.1.5", "remote_ip_address": "192.168.1.6",
        "remote_mac": "52:54:00:00:00:bb", "successful": false}],
     "l3_connectivity": [{"outgoing_nic": "ens3", "remote_ip_address": "192.168.1.6", "successful": true, "average_rtt_ms": 1.5,
                          "packet_loss_percentage": 10.0}],
     "mtu_report": []},
    {"host_id": "b",
     "l2_connectivity": [{"outgoing_nic": "ens4", "outgoing_ip_address": "10.0.0.5", "remote_ip_address": "10.1.1.1",
                          "remote_mac": "", "successful": false}],
     "l3_connectivity": [{"outgoing_nic": "ens4", "remote_ip_address": "10.1.1.1", "successful": false, "average_rtt_ms": 0.0,
                          "packet_loss_percentage": 100.0}],
     "mtu_report": [{"outgoing_nic": "ens4", "remote_ip_address": "10.1.1.1", "mtu_successful": false}]}],
   "collisions": [
     {"ip_address": "192.168.1.5", "mac_addresses": ["52:54:00:00:00:01", "52:54:00:00:00:cc"]},
     {"ip_address": "192.168.1.6", "mac_addresses": ["52:54:00:00:00:aa", "52:54:00:00:00:bb"]}]})"));
}

TEST(Links, QuestionsOfAnInterface) {
  EXPECT_EQ(interface_to(interfaces, ip("10.9.9.9"))->name, "ens4");
  EXPECT_EQ(interface_to(interfaces, ip("172.16.0.1")), nullptr);
  const net::NeighborQuestions questions = questions_for(interfaces[0], {ip("192.168.1.6")}).value();
  EXPECT_EQ(questions.own_v4, ip("192.168.1.5"));
  EXPECT_EQ(questions.own_v6, ip("fd00::5"));
  EXPECT_FALSE(questions_for({.name = "x", .mac_address = ""}, {}).ok());
}

}  // namespace
}  // namespace slipway::agent
