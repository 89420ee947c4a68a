#include "service/records.h"

#include "service/test_records.h"

#include <gtest/gtest.h>

namespace slipway::service {
namespace {

TEST(Records, AreReadAsTheyWereWritten) {
  ClusterRecord cluster = test_cluster_record("c");
  cluster.cluster.status = assist::ClusterStatus::finalizing;
  cluster.cluster.ignored_validations = {"all"};
  cluster.reports = {.assets_are_made = true, .installation_began = assist::test_now};
  cluster.operators["cvo"] = Json{{"status", "available"}};
  cluster.install_config_overrides = {{"fips", true}};
  cluster.outcomes = {{"a", "failure"}};
  const ClusterRecord read = parse_cluster(to_json(cluster)).value();
  EXPECT_EQ(to_json(read), to_json(cluster));
  EXPECT_EQ(read.cluster.api_addresses, cluster.cluster.api_addresses);
  EXPECT_EQ(read.cluster.cluster_networks, cluster.cluster.cluster_networks);

  HostRecord host = test_host_record("h", "c");
  host.outputs["inventory"] = assist::to_json(assist::test_inventory("host-h"));
  host.host.inventory = assist::test_inventory("host-h");
  host.host.checks.disk_latency_ms["/dev/vda"] = -1;
  host.host.stage = assist::Stage::rebooting;
  host.host.clock_offset = Milliseconds(-7000);
  host.key = "k";
  host.overrides = {{"installer_args", JsonArray{"-n"}}};
  const HostRecord read_host = parse_host(to_json(host)).value();
  EXPECT_EQ(to_json(read_host), to_json(host));
  EXPECT_EQ(read_host.host.inventory, host.host.inventory);
  EXPECT_EQ(read_host.host.checks, host.host.checks);

  const InfraEnvRecord infra_env{
      .id = "e", .name = "demo", .cluster = "c", .settings = {{"name", "demo"}}, .created = assist::test_now};
  EXPECT_EQ(parse_infra_env(to_json(infra_env)).value(), infra_env);
  const TokenRecord token{.id = "t", .digest = "d", .kind = TokenKind::controller, .cluster = "c", .expires = assist::test_now};
  EXPECT_EQ(parse_token(to_json(token)).value(), token);
}

TEST(Records, OfAnotherProgramAreErrors) {
  EXPECT_FALSE(parse_cluster(Json{{"id", "c"}, {"status", "unheard-of"}}).ok());
  EXPECT_FALSE(parse_host(Json{{"status", "known"}}).ok());
  EXPECT_FALSE(parse_token(Json{{"id", "t"}, {"kind", "king"}}).ok());
}

}  // namespace
}  // namespace slipway::service
