#include "provider/aws/cluster_plan.h"

#include "provider/planned_machines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace slipway::provider::aws {
namespace {

config::InstallConfig config_with(std::string_view aws, std::string_view more = "") {
  const std::string text = fmt::format(
      "apiVersion: v1\nbaseDomain: example.com\nmetadata: {{name: demo}}\ncredentialsMode: Manual\npullSecret: "
      "'{{\"auths\":{{\"r.example.com\":{{\"auth\":\"YTpi\"}}}}}}'\nplatform: {{aws: {}}}\n{}",
      aws, more);
  const auto loaded = config::load_install_config(text, "install-config.yaml");
  EXPECT_TRUE(loaded.ok()) << loaded.error().message();
  return loaded.value().config;
}

constexpr std::string_view usual = "{region: us-east-1, defaultMachinePlatform: {amiID: ami-1}}";
const std::vector<std::string> zones = {"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d"};

Result<plan::Plan> try_plan(const config::InstallConfig& config, Region region) {
  std::vector<PlannedMachine> machines;
  for (const Machine& machine : planned_machines(config)) machines.push_back({machine, machine.role == "bootstrap"});
  region.name = "us-east-1";
  if (region.zones.empty()) region.zones = zones;
  return cluster_plan({.config = config, .infra_id = "demo-x7k2p", .region = std::move(region)}, machines);
}

plan::Plan plan_of(const config::InstallConfig& config, Region region = {}) {
  Result<plan::Plan> made = try_plan(config, std::move(region));
  EXPECT_TRUE(made.ok()) << made.error().message();
  return std::move(made).value();
}

const plan::Resource& find_in(const plan::Plan& plan, std::string_view key) {
  const auto found = std::ranges::find(plan, key, &plan::Resource::key);
  EXPECT_NE(found, plan.end()) << key;
  return *found;
}

bool has(const plan::Plan& plan, std::string_view key) {
  return std::ranges::find(plan, key, &plan::Resource::key) != plan.end();
}

int count(const plan::Plan& plan, std::string_view kind) {
  return static_cast<int>(std::ranges::count(plan, kind, &plan::Resource::kind));
}

TEST(AwsPlan, HasANetworkOfItsOwnInThreeZones) {
  const plan::Plan plan = plan_of(config_with(usual));
  ASSERT_TRUE(plan::in_order(plan).ok()) << plan::in_order(plan).error().message();
  EXPECT_EQ(count(plan, vpc_kind), 1);
  EXPECT_EQ(count(plan, subnet_kind), 6);
  EXPECT_EQ(count(plan, nat_gateway_kind), 3);
  EXPECT_EQ(count(plan, machine_kind), 1 + 3 + 3);
  std::set<std::string> cidrs;
  for (const plan::Resource& each : plan) {
    if (each.kind == subnet_kind) cidrs.insert(text_of(each.spec, {"cidr"}));
  }
  EXPECT_EQ(cidrs, (std::set<std::string>{"10.0.0.0/19", "10.0.128.0/19", "10.0.160.0/19", "10.0.32.0/19", "10.0.64.0/19",
                                          "10.0.96.0/19"}));
  EXPECT_EQ(text_of(find_in(plan, "machine/demo-x7k2p-master-1").spec, {"subnet"}),
            "subnet/demo-x7k2p-subnet-private-us-east-1b");
}

TEST(AwsPlan, BootstrapThingsBelongToTheBootstrapMachine) {
  const plan::Plan plan = plan_of(config_with(usual));
  std::set<std::string> keys;
  for (const plan::Resource& each : plan) {
    if (each.machine == "bootstrap") keys.insert(each.key());
  }
  EXPECT_EQ(keys, (std::set<std::string>{"bucket/demo-x7k2p-bootstrap", "machine/demo-x7k2p-bootstrap",
                                         "object/demo-x7k2p-bootstrap/bootstrap.ign", "target/demo-x7k2p-aext/bootstrap",
                                         "target/demo-x7k2p-aint/bootstrap", "target/demo-x7k2p-sint/bootstrap"}));
  EXPECT_EQ(text_of(find_in(plan, "machine/demo-x7k2p-bootstrap").spec, {"profile"}), "") << "it needs no permissions";
}

TEST(AwsPlan, OnlyTheMachineNetworkReachesMachines) {
  const plan::Plan plan = plan_of(config_with(usual));
  for (const plan::Resource& each : plan) {
    if (each.kind != security_rules_kind) continue;
    for (const Json& rule : find_array(each.spec, {"rules"})) {
      for (const std::string& cidr : texts_of(rule, {"cidrs"})) EXPECT_EQ(cidr, "10.0.0.0/16");
    }
  }
  const auto opens = [&](std::string_view group, int port) {
    const JsonArray& rules = find_array(find_in(plan, fmt::format("security-rules/demo-x7k2p-{}", group)).spec, {"rules"});
    return std::ranges::any_of(rules, [&](const Json& rule) {
      return text_of(rule, {"protocol"}) == "tcp" && integer_of(rule, {"from"}) <= port && port <= integer_of(rule, {"to"});
    });
  };
  EXPECT_TRUE(opens("controlplane", 6443) && opens("controlplane", 2379) && opens("lb", 443));
  EXPECT_FALSE(opens("node", 6443) || opens("node", 2379) || opens("node", 22623) || opens("controlplane", 443));
  const auto groups = [&](std::string_view machine) {
    return texts_of(find_in(plan, fmt::format("machine/demo-x7k2p-{}", machine)).spec, {"groups"});
  };
  const std::vector<std::string> of_worker = {"security-group/demo-x7k2p-node", "security-group/demo-x7k2p-lb"};
  const std::vector<std::string> of_master = {"security-group/demo-x7k2p-node", "security-group/demo-x7k2p-controlplane"};
  EXPECT_EQ(groups("worker-0"), of_worker);
  EXPECT_EQ(groups("master-0"), of_master);
  EXPECT_EQ(groups("bootstrap"), of_master);
}

TEST(AwsPlan, InternalClustersHaveNoPublicEntry) {
  const plan::Plan plan = plan_of(config_with(usual, "publish: Internal"));
  EXPECT_FALSE(has(plan, "load-balancer/demo-x7k2p-ext"));
  EXPECT_EQ(text_of(find_in(plan, "load-balancer/demo-x7k2p-apps").spec, {"scheme"}), "internal");
  for (const plan::Resource& each : plan) EXPECT_FALSE(each.name.starts_with("public/")) << each.key();
}

TEST(AwsPlan, UsesSubnetsOfTheUser) {
  const Region region{.user_vpc = "vpc-9", .subnets = {{"subnet-1", "us-east-1a", false}, {"subnet-2", "us-east-1a", true}}};
  const plan::Plan plan =
      plan_of(config_with("{region: us-east-1, subnets: [subnet-1, subnet-2], defaultMachinePlatform: {amiID: ami-1}}"), region);
  for (const std::string_view kind : {vpc_kind, subnet_kind, nat_gateway_kind, internet_gateway_kind, route_table_kind}) {
    EXPECT_EQ(count(plan, kind), 0) << kind;
  }
  EXPECT_EQ(text_of(find_in(plan, "machine/demo-x7k2p-master-2").spec, {"subnet"}), "id:subnet-1");
  EXPECT_EQ(texts_of(find_in(plan, "load-balancer/demo-x7k2p-ext").spec, {"subnets"}), (std::vector<std::string>{"id:subnet-2"}));
  const auto failed = try_plan(config_with("{region: us-east-1, subnets: [subnet-1], defaultMachinePlatform: {amiID: ami-1}}"),
                               {.user_vpc = "vpc-9", .subnets = {{"subnet-1", "us-east-1a", false}}});
  EXPECT_EQ(failed.error().message(), "platform.aws.subnets: has no public subnet (add one, or set publish: Internal)");
}

TEST(AwsPlan, WithoutWorkersTheMastersServeApplications) {
  const plan::Plan plan = plan_of(config_with(usual, "compute: [{name: worker, replicas: 0}]"));
  EXPECT_TRUE(has(plan, "target/demo-x7k2p-tls/master-0"));
  EXPECT_FALSE(has(plan, "target/demo-x7k2p-tls/bootstrap"));
}

TEST(AwsPlan, TakesRolesOfTheUser) {
  const plan::Plan plan = plan_of(config_with("{region: us-east-1, defaultMachinePlatform: {amiID: ami-1}}",
                                              "controlPlane: {name: master, platform: {aws: {iamProfile: own}}}\n"
                                              "compute: [{name: worker, platform: {aws: {iamRole: theirs}}}]"));
  EXPECT_EQ(count(plan, role_kind), 0);
  EXPECT_EQ(text_of(find_in(plan, "machine/demo-x7k2p-master-0").spec, {"profile"}), "id:own");
  EXPECT_EQ(text_of(find_in(plan, "instance-profile/demo-x7k2p-worker-profile").spec, {"role"}), "id:theirs");
}

TEST(AwsPlan, ZonesOfTheConfigMustExist) {
  const auto failed =
      try_plan(config_with("{region: us-east-1, defaultMachinePlatform: {amiID: ami-1, zones: [us-east-1z]}}"), {});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message().find("us-east-1z is not available in the region"), std::string::npos);
}

TEST(AwsConfig, RefusesWhatItDoesNotCreate) {
  EXPECT_TRUE(check_config(config_with(usual)).ok());
  const auto failed = check_config(config_with("{region: us-east-1, bestEffortDeleteIgnition: true}",
                                               "networking: {machineNetwork: [{cidr: 192.168.0.0/27}]}\n"));
  ASSERT_FALSE(failed.ok());
  for (const std::string_view part : {"bestEffortDeleteIgnition", "192.168.0.0/27 is not a network of AWS"}) {
    EXPECT_NE(failed.error().message().find(part), std::string::npos) << part << " in " << failed.error().message();
  }
}

TEST(AwsPlan, ImportsOneImageForAllMachinesWithoutAmiID) {
  const config::InstallConfig config =
      config_with("{region: us-east-1}", "compute: [{name: worker, platform: {aws: {amiID: ami-2}}}]");
  EXPECT_TRUE(imports_image(config));
  EXPECT_FALSE(imports_image(config_with(usual)));
  std::vector<PlannedMachine> machines;
  for (const Machine& machine : planned_machines(config)) machines.push_back({machine, false});
  const Region region{.name = "us-east-1", .zones = zones};
  const auto plan =
      cluster_plan({.config = config, .infra_id = "demo-x7k2p", .region = region, .image = "slipway-os-0123456789ab"}, machines);
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  EXPECT_EQ(count(plan.value(), image_kind), 1);
  EXPECT_TRUE(find_in(plan.value(), "image/slipway-os-0123456789ab").is_shared);
  EXPECT_EQ(text_of(find_in(plan.value(), "machine/demo-x7k2p-master-0").spec, {"image"}), "image/slipway-os-0123456789ab");
  EXPECT_EQ(text_of(find_in(plan.value(), "machine/demo-x7k2p-worker-0").spec, {"image"}), "id:ami-2");
  // Machines that are added later boot the image of the existing ones.
  const auto later = cluster_plan({.config = config, .infra_id = "demo-x7k2p", .region = region, .image = "ami-7"}, machines);
  EXPECT_EQ(count(later.value(), image_kind), 0);
  EXPECT_EQ(text_of(find_in(later.value(), "machine/demo-x7k2p-master-0").spec, {"image"}), "id:ami-7");
}

TEST(AwsConfig, ImportsNoImagesForArm) {
  const std::string_view arm =
      "controlPlane: {name: master, architecture: arm64}\ncompute: [{name: worker, architecture: arm64}]";
  const auto failed = check_config(config_with("{region: us-east-1}", arm));
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message().find("controlPlane.platform.aws.amiID: missing: slipway imports images for amd64 only"),
            std::string::npos)
      << failed.error().message();
}

TEST(AwsNames, FitTheLimits) {
  const std::string longest(27, 'x');  // of an infraID
  for (const std::string& name : load_balancer_names(longest)) EXPECT_LE(name.size(), 32u) << name;
  for (const std::string& name : target_group_names(longest)) EXPECT_LE(name.size(), 32u) << name;
}

// 500 machines in less than the two seconds that a user waits.
TEST(AwsPlan, IsFastForManyMachines) {
  const auto begin = std::chrono::steady_clock::now();
  const plan::Plan plan = plan_of(config_with(usual, "compute: [{name: worker, replicas: 497}]"));
  EXPECT_TRUE(plan::in_order(plan).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

}  // namespace
}  // namespace slipway::provider::aws
