#include "assist/replies.h"

#include "assist/test_hosts.h"

#include <gtest/gtest.h>

namespace slipway::assist {
namespace {

Result<> apply(Host& host, std::string_view type, std::string_view output) {
  return apply_output(host, type, parse_json(output, "output").value());
}

TEST(Replies, OfConnectivity) {
  Host host = test_host("a");
  ASSERT_TRUE(apply(host, "connectivity-check", R"({"remote_hosts": [{"host_id": "b",
      "l2_connectivity": [{"remote_ip_address": "10.0.0.2", "successful": false}, {"remote_ip_address": "10.0.0.2", "successful": true}],
      "l3_connectivity": [{"remote_ip_address": "10.0.0.2", "successful": true, "average_rtt_ms": 2, "packet_loss_percentage": 10},
                          {"remote_ip_address": "10.0.0.2", "successful": true, "average_rtt_ms": 1.5, "packet_loss_percentage": 0}],
      "mtu_report": [{"remote_ip_address": "10.0.0.2", "mtu_successful": false}]}],
      "collisions": [{"ip_address": "10.0.0.9", "mac_addresses": ["aa", "bb"]}]})")
                  .ok());
  ASSERT_EQ(host.checks.reach.size(), 1u);
  EXPECT_EQ(host.checks.reach[0], (Reach{.host = "b",
                                         .address = "10.0.0.2",
                                         .by_link = true,
                                         .by_address = true,
                                         .has_mtu = false,
                                         .latency_ms = 1.5,
                                         .loss_percent = 0}));
  EXPECT_EQ(host.checks.macs_of.at("10.0.0.9"), (std::set<std::string>{"aa", "bb"}));
}

TEST(Replies, OfTheOtherChecks) {
  Host host = test_host("a");
  host.inventory.reset();
  ASSERT_TRUE(apply_output(host, "inventory", to_json(test_inventory("host-a"))).ok());
  EXPECT_EQ(host.inventory, test_inventory("host-a"));
  ASSERT_TRUE(apply(host, "ntp-synchronizer", R"({"ntp_sources": [{"source_name": "x", "source_state": "synced"}]})").ok());
  EXPECT_EQ(host.checks.time_sources, (std::vector<TimeSource>{{"x", "synced"}}));
  ASSERT_TRUE(apply(host, "domain-resolution",
                    R"({"resolutions": [{"domain_name": "a", "ipv4_addresses": ["1.2.3.4"], "ipv6_addresses": ["::1"]}]})")
                  .ok());
  EXPECT_EQ(host.checks.resolved->at("a"), (std::vector<std::string>{"1.2.3.4", "::1"}));
  ASSERT_TRUE(apply(host, "verify-vips", R"([{"vip": "1.2.3.4", "verification": "failed"}])").ok());
  EXPECT_FALSE(host.checks.address_is_free.at("1.2.3.4"));
  ASSERT_TRUE(apply(host, "installation-disk-speed-check", R"({"path": "/dev/vda", "io_sync_duration": 7})").ok());
  EXPECT_EQ(host.checks.disk_latency_ms.at("/dev/vda"), 7);
  ASSERT_TRUE(apply(host, "container-image-availability", R"({"images": [{"name": "i", "result": "failure"}]})").ok());
  EXPECT_FALSE(host.checks.images->at("i"));
  ASSERT_TRUE(apply(host, "api-vip-connectivity-check", R"({"is_success": true})").ok());
  EXPECT_TRUE(*host.checks.can_get_ignition);
}

TEST(Replies, ThatAreWrongChangeNothing) {
  const Host before = test_host("a");
  for (const auto& [type, output] : std::vector<std::pair<const char*, const char*>>{
           {"inventory", "[]"},
           {"inventory", R"({"hostname": 7})"},
           {"connectivity-check", R"({"remote_hosts": {}})"},
           {"connectivity-check", R"({"remote_hosts": [7]})"},
           {"connectivity-check", R"({"remote_hosts": [{"l2_connectivity": "x"}]})"},
           {"verify-vips", "{}"},
           {"verify-vips", "[1]"},
           {"installation-disk-speed-check", "{}"},
           {"container-image-availability", R"({"images": "x"})"},
       }) {
    Host host = before;
    const Result<> result = apply(host, type, output);
    EXPECT_FALSE(result.ok()) << type << " " << output;
    EXPECT_EQ(host.checks, before.checks);
    EXPECT_EQ(host.inventory, before.inventory);
  }
}

TEST(Replies, AFailedMeasurementOfADiskIsAResult) {
  Host host = test_host("a");
  apply_failure(host, "installation-disk-speed-check", Json{{"path", "/dev/vda"}});
  EXPECT_LT(host.checks.disk_latency_ms.at("/dev/vda"), 0);
  EXPECT_TRUE(is_kept("inventory"));
  EXPECT_FALSE(is_kept("install"));
}

}  // namespace
}  // namespace slipway::assist
