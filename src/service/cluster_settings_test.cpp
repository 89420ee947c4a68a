#include "service/cluster_settings.h"

#include "base/sorted_keys.h"
#include "service/fields.h"

#include <gtest/gtest.h>

namespace slipway::service {
namespace {

JsonObject fields_of(std::string_view body) { return read_fields(body, cluster_fields(), "cluster").value(); }

// The settings after a request, as text; the message if it is refused.
std::string settled(std::string_view body, JsonObject settings = {}) {
  const JsonObject given = fields_of(body);
  for (const auto& member : given) settings[member.key()] = member.value();
  const Result<> done = settle_fields(settings, given);
  return done.ok() ? emit_json(sorted_keys(settings), JsonStyle::compact) : done.error().message();
}

// What the client that is generated from the public description sends if its user sets nothing.
constexpr std::string_view of_generated_client = R"("high_availability_mode": "Full", "cluster_network_cidr": "10.128.0.0/14",
    "service_network_cidr": "172.30.0.0/16", "user_managed_networking": false)";

TEST(ClusterSettings, OneNetworkBecomesAList) {
  EXPECT_EQ(settled(R"({"cluster_network_cidr": "10.132.0.0/14", "cluster_network_host_prefix": 24})"),
            R"({"cluster_networks":[{"cidr":"10.132.0.0/14","host_prefix":24}]})");
  EXPECT_EQ(settled(R"({"cluster_network_cidr": "fd01::/48"})"),
            R"({"cluster_networks":[{"cidr":"fd01::/48","host_prefix":64}]})");
  EXPECT_EQ(settled(R"({"machine_network_cidr": "192.168.1.0/24", "service_network_cidr": "172.31.0.0/16"})"),
            R"({"machine_networks":[{"cidr":"192.168.1.0/24"}],"service_networks":[{"cidr":"172.31.0.0/16"}]})");
  EXPECT_EQ(settled(R"({"cluster_network_host_prefix": 25})",
                    fields_of(R"({"cluster_networks": [{"cidr": "10.0.0.0/14", "host_prefix": 23}]})")),
            R"({"cluster_networks":[{"cidr":"10.0.0.0/14","host_prefix":25}]})");
  EXPECT_NE(settled(R"({"cluster_network_cidr": "10.132.0.0/14", "cluster_network_host_prefix": 8})").find("between 14 and 30"),
            std::string::npos);
}

TEST(ClusterSettings, AListCountsMoreThanWhatClientsSendAnyway) {
  EXPECT_EQ(
      settled(fmt::format(R"({{{}, "cluster_networks": [{{"cidr": "10.0.0.0/14", "host_prefix": 23}}], "service_networks": []}})",
                          of_generated_client)),
      R"({"cluster_networks":[{"cidr":"10.0.0.0/14","host_prefix":23}],"control_plane_count":3,"service_networks":[],)"
      R"("user_managed_networking":false})");
  EXPECT_EQ(settled(R"({"service_network_cidr": "172.31.0.0/16", "service_networks": [{"cidr": "172.29.0.0/16"}]})"),
            "cluster: service_network_cidr 172.31.0.0/16 is not one of service_networks");
}

TEST(ClusterSettings, ThePlatformSaysWhoHasTheAddresses) {
  EXPECT_EQ(settled(R"({"platform": {"type": "none"}})"), R"({"user_managed_networking":true})");
  EXPECT_EQ(settled(R"({"platform": {"type": "baremetal", "external": null}, "user_managed_networking": false})"),
            R"({"user_managed_networking":false})");
  EXPECT_EQ(settled(R"({"platform": {"type": "baremetal"}, "user_managed_networking": true})"),
            "cluster: platform baremetal does not fit user_managed_networking true");
}

TEST(ClusterSettings, TheNumberOfMastersHasTwoForms) {
  EXPECT_EQ(settled(R"({"high_availability_mode": "None"})"), R"({"control_plane_count":1})");
  EXPECT_EQ(settled(R"({"high_availability_mode": "None", "control_plane_count": 3})"),
            "cluster: high_availability_mode None does not fit control_plane_count 3");
}

TEST(ClusterSettings, OfANewCluster) {
  JsonObject settings;
  add_defaults(settings, "4.20");
  EXPECT_EQ(emit_json(settings, JsonStyle::compact),
            R"({"cluster_networks":[{"cidr":"10.128.0.0/14","host_prefix":23}],"service_networks":[{"cidr":"172.30.0.0/16"}],)"
            R"("network_type":"OVNKubernetes","control_plane_count":3,"openshift_version":"4.20"})");
}

}  // namespace
}  // namespace slipway::service
