#include "provider/openstack/cluster_plan.h"

#include "provider/openstack/preflight.h"
#include "provider/openstack/prices.h"
#include "provider/planned_machines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace slipway::provider::openstack {
namespace {

config::InstallConfig config_with(std::string_view openstack, std::string_view more = "") {
  const std::string text = fmt::format(
      "apiVersion: v1\nbaseDomain: example.com\nmetadata: {{name: demo}}\npullSecret: "
      "'{{\"auths\":{{\"r.example.com\":{{\"auth\":\"YTpi\"}}}}}}'\nplatform: {{openstack: {}}}\n{}",
      openstack, more);
  const auto loaded = config::load_install_config(text, "install-config.yaml");
  EXPECT_TRUE(loaded.ok()) << loaded.error().message();
  return loaded.value().config;
}

constexpr std::string_view usual = "{externalNetwork: public, defaultMachinePlatform: {type: m1.large}}";

Site own_network() { return {.external_network = "ext-1", .has_temp_urls = true}; }

Result<plan::Plan> try_plan(const config::InstallConfig& config, Site site = own_network()) {
  std::vector<PlannedMachine> machines;
  for (const Machine& machine : planned_machines(config)) machines.push_back({machine, machine.role == "bootstrap"});
  return cluster_plan({.config = config, .infra_id = "demo-x7k2p", .site = std::move(site), .image = "slipway-os-1"}, machines);
}

plan::Plan plan_of(const config::InstallConfig& config, Site site = own_network()) {
  Result<plan::Plan> made = try_plan(config, std::move(site));
  EXPECT_TRUE(made.ok()) << made.error().message();
  EXPECT_TRUE(plan::in_order(made.value()).ok()) << plan::in_order(made.value()).error().message();
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

// "tcp 6443-6443 any", "112 0-0 group worker".
std::set<std::string> rules_of(const plan::Plan& plan, const std::string& group) {
  std::set<std::string> rules;
  for (const Json& rule : find_array(find_in(plan, "security-rules/demo-x7k2p-" + group).spec, {"rules"})) {
    std::string source = text_of(rule, {"cidr"});
    const std::string key = text_of(rule, {"group"});
    if (!key.empty()) source = key.substr(key.rfind('-') + 1);
    rules.insert(fmt::format("{} {}-{} {}", text_of(rule, {"protocol"}), integer_of(rule, {"from"}), integer_of(rule, {"to"}),
                             source.empty() ? "any" : source));
  }
  return rules;
}

TEST(OpenstackPlan, HasANetworkOfItsOwn) {
  const plan::Plan plan = plan_of(config_with(usual));
  for (const std::string_view key :
       {"network/demo-x7k2p-openshift", "subnet/demo-x7k2p-nodes", "router/demo-x7k2p-external-router",
        "security-group/demo-x7k2p-master", "port/demo-x7k2p-api-port", "port/demo-x7k2p-ingress-port",
        "floating-ip/demo-x7k2p-api", "floating-ip/demo-x7k2p-ingress", "server-group/demo-x7k2p-master", "image/slipway-os-1",
        "container/demo-x7k2p-bootstrap", "object/demo-x7k2p-bootstrap/bootstrap.ign", "port/demo-x7k2p-worker-2",
        "machine/demo-x7k2p-bootstrap", "machine/demo-x7k2p-worker-2"}) {
    EXPECT_TRUE(has(plan, key)) << key;
  }
  EXPECT_EQ(count(plan, machine_kind), 7);
  const plan::Resource& subnet = find_in(plan, "subnet/demo-x7k2p-nodes");
  EXPECT_EQ(text(subnet, "first"), "10.0.0.10") << "the virtual addresses are before it";
  EXPECT_EQ(text(subnet, "last"), "10.0.255.254");
  EXPECT_TRUE(find_in(plan, "image/slipway-os-1").is_shared);
  EXPECT_FALSE(find_in(plan, "network/demo-x7k2p-openshift").is_shared);
}

TEST(OpenstackPlan, MachinesMayHoldTheVirtualAddresses) {
  const plan::Plan plan = plan_of(config_with(usual));
  const auto pairs = [&](std::string_view machine) {
    return texts_of(find_in(plan, fmt::format("port/demo-x7k2p-{}", machine)).spec, {"pairs"});
  };
  EXPECT_EQ(pairs("master-1"), (std::vector<std::string>{"10.0.0.5", "10.0.0.7"}));
  EXPECT_EQ(pairs("bootstrap"), pairs("master-1"));
  EXPECT_EQ(pairs("worker-0"), (std::vector<std::string>{"10.0.0.7"}));
  const Json& addresses = find_in(plan, "port/demo-x7k2p-api-port").spec;
  EXPECT_EQ(text_of(find_array(addresses, {"addresses"}).at(0), {"address"}), "10.0.0.5");
  EXPECT_TRUE(std::ranges::count(find_in(plan, "port/demo-x7k2p-worker-0").needs, "port/demo-x7k2p-api-port") > 0)
      << "otherwise Neutron might give the address to the machine";
}

TEST(OpenstackPlan, OnlyTheApiAndApplicationsAreOpen) {
  const plan::Plan plan = plan_of(config_with(usual));
  std::set<std::string> open;
  for (const std::string group : {"master", "worker"}) {
    for (const std::string& rule : rules_of(plan, group)) {
      if (rule.ends_with(" any")) open.insert(fmt::format("{}: {}", group, rule));
    }
  }
  EXPECT_EQ(open, (std::set<std::string>{"master: tcp 6443-6443 any", "worker: tcp 443-443 any", "worker: tcp 80-80 any"}));
  const std::set<std::string> masters = rules_of(plan, "master");
  for (const std::string_view rule : {"tcp 22623-22623 10.0.0.0/16", "tcp 22-22 10.0.0.0/16", "icmp 0-0 10.0.0.0/16",
                                      "tcp 2379-2380 master", "112 0-0 worker", "112 0-0 master", "udp 8472-8472 worker"}) {
    EXPECT_TRUE(masters.contains(std::string(rule))) << rule;
  }
  EXPECT_FALSE(masters.contains("tcp 2379-2380 worker"));
  EXPECT_FALSE(rules_of(plan, "worker").contains("tcp 22623-22623 10.0.0.0/16"));
  // Without workers, masters have routers.
  const plan::Plan alone = plan_of(config_with(usual, "compute: [{name: worker, replicas: 0}]"));
  EXPECT_TRUE(rules_of(alone, "master").contains("tcp 443-443 any"));
}

TEST(OpenstackPlan, BootstrapThingsBelongToTheBootstrapMachine) {
  for (const bool has_temp_urls : {true, false}) {
    const plan::Plan plan = plan_of(config_with(usual), {.external_network = "ext-1", .has_temp_urls = has_temp_urls});
    std::set<std::string> keys;
    for (const plan::Resource& each : plan) {
      if (each.machine == "bootstrap") keys.insert(each.key());
    }
    std::set<std::string> wanted = {"port/demo-x7k2p-bootstrap", "machine/demo-x7k2p-bootstrap"};
    if (has_temp_urls) {
      wanted.insert({"container/demo-x7k2p-bootstrap", "object/demo-x7k2p-bootstrap/bootstrap.ign"});
    } else {
      wanted.insert("config-image/demo-x7k2p-bootstrap.ign");
    }
    EXPECT_EQ(keys, wanted);
    EXPECT_TRUE(std::ranges::count(find_in(plan, "machine/demo-x7k2p-master-0").needs, "machine/demo-x7k2p-bootstrap") > 0);
    EXPECT_EQ(text(find_in(plan, "machine/demo-x7k2p-bootstrap"), "group"), "");
  }
}

TEST(OpenstackPlan, UsesNetworksAndAddressesOfTheUser) {
  const config::InstallConfig config = config_with(
      "{externalNetwork: public, apiFloatingIP: 203.0.113.5, controlPlanePort: {fixedIPs: [{subnet: {name: nodes}}]}, "
      "defaultMachinePlatform: {type: m1.large}}");
  const Site site{.external_network = "ext-1", .user_network = "net-1", .subnets = {{"sub-1", "10.0.0.0/16"}}};
  const plan::Plan plan = plan_of(config, site);
  EXPECT_EQ(count(plan, network_kind) + count(plan, subnet_kind) + count(plan, router_kind), 0);
  EXPECT_EQ(text(find_in(plan, "port/demo-x7k2p-master-0"), "network"), "id:net-1");
  EXPECT_EQ(text(find_in(plan, "user-floating-ip/203.0.113.5"), "port"), "port/demo-x7k2p-api-port");
  EXPECT_TRUE(has(plan, "floating-ip/demo-x7k2p-ingress"));
  EXPECT_FALSE(has(plan, "floating-ip/demo-x7k2p-api"));
  Site elsewhere = site;
  elsewhere.subnets = {{"sub-1", "192.0.2.0/24"}};
  EXPECT_NE(try_plan(config, elsewhere).error().message().find("is in no subnet"), std::string::npos);
}

TEST(OpenstackPlan, PutsMachinesIntoZonesAndOnVolumes) {
  const config::InstallConfig config = config_with(
      usual,
      "controlPlane: {name: master, platform: {openstack: {type: m1.huge, zones: [a, b], serverGroupPolicy: anti-affinity, "
      "rootVolume: {size: 100, types: [fast, slow], zones: [x, y]}, additionalNetworkIDs: "
      "[12345678-90ab-4cde-8f01-234567890abc]}}}");
  const plan::Plan plan = plan_of(config);
  const plan::Resource& machine = find_in(plan, "machine/demo-x7k2p-master-1");
  EXPECT_EQ(text(machine, "zone"), "b");
  EXPECT_EQ(text(machine, "flavor"), "m1.huge");
  EXPECT_EQ(text(machine, "volume"), "volume/demo-x7k2p-master-1");
  EXPECT_EQ(texts_of(machine.spec, {"networks"}).size(), 1u);
  const plan::Resource& volume = find_in(plan, "volume/demo-x7k2p-master-1");
  EXPECT_EQ(text(volume, "type"), "slow");
  EXPECT_EQ(text(volume, "zone"), "y");
  EXPECT_EQ(volume.machine, "master-1");
  EXPECT_EQ(text(find_in(plan, "server-group/demo-x7k2p-master"), "policy"), "anti-affinity");
  EXPECT_EQ(text(find_in(plan, "server-group/demo-x7k2p-worker"), "policy"), "soft-anti-affinity");
  EXPECT_EQ(text(find_in(plan, "machine/demo-x7k2p-worker-0"), "volume"), "");
  const std::vector<Flavor> flavors = {{.id = "1", .name = "m1.huge", .vcpus = 8, .ram_mib = 1024}};
  const Needs needs = needs_of(plan, flavors);
  EXPECT_EQ(needs.servers, 7);
  EXPECT_EQ(needs.vcpus, 4 * 8) << "the other flavor is not known";
  EXPECT_EQ(needs.volume_gib, 400);
  EXPECT_EQ(needs.ports, 7 + 2 + 1 + 4) << "machines, virtual addresses, router, further networks";
  EXPECT_EQ(needs.floating_ips, 2);
  double volumes = 0;
  for (const plan::Priced& each : priced_plan(plan)) volumes += each.item == "volume/fast" ? each.amount : 0;
  EXPECT_EQ(volumes, 300) << "the bootstrap machine and masters 0 and 2";
}

TEST(OpenstackPlan, LeavesAddressesToALoadBalancerOfTheUser) {
  const config::InstallConfig config = config_with(
      "{externalNetwork: public, loadBalancer: {type: UserManaged}, apiVIPs: [192.0.2.1], ingressVIPs: [192.0.2.1], "
      "defaultMachinePlatform: {type: m1.large}}",
      "featureSet: TechPreviewNoUpgrade");
  const plan::Plan plan = plan_of(config);
  EXPECT_EQ(count(plan, floating_ip_kind), 0);
  EXPECT_FALSE(has(plan, "port/demo-x7k2p-api-port"));
  EXPECT_TRUE(texts_of(find_in(plan, "port/demo-x7k2p-master-0").spec, {"pairs"}).empty());
}

TEST(OpenstackPlan, ChecksTheConfig) {
  const auto message = [](std::string_view openstack, std::string_view more = "") {
    const Result<> checked = check_config(config_with(openstack, more));
    return checked.ok() ? "" : checked.error().message();
  };
  EXPECT_EQ(message(usual), "");
  const std::string all =
      message("{clusterOSImage: 'http://192.0.2.9/os.qcow2.gz'}", "networking: {machineNetwork: [{cidr: 10.0.0.0/28}]}");
  for (const std::string_view part :
       {"controlPlane.platform.openstack.type: missing", "compute[0].platform.openstack.type: missing",
        "externalNetwork: missing: nothing could reach the machines", "machineNetwork: must be one IPv4 network",
        "needs a checksum", "is a compressed image"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  }
  const std::string digest(64, 'a');
  EXPECT_EQ(message(fmt::format("{{externalNetwork: public, clusterOSImage: 'http://r/os.qcow2?sha256={}', "
                                "defaultMachinePlatform: {{type: m1}}}}",
                                digest)),
            "");
  EXPECT_NE(message("{externalNetwork: public, clusterOSImage: rhcos, clusterOSImageProperties: {a: b}, "
                    "defaultMachinePlatform: {type: m1}}")
                .find("clusterOSImageProperties: has no effect"),
            std::string::npos);
}

TEST(OpenstackPlan, MarksCanBeReadBack) {
  EXPECT_EQ(mark_of("demo-x7k2p"), "slipway demo-x7k2p");
  const std::optional<Mark> mark = read_mark(mark_of("demo-x7k2p", "master-0"));
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->infra_id, "demo-x7k2p");
  EXPECT_EQ(mark->what, "master-0");
  for (const std::string_view other : {"", "slipway", "slipway ", "a network", "slipway a b c"})
    EXPECT_FALSE(read_mark(other)) << other;
  EXPECT_EQ(os_image_name("0123"), "slipway-os-0123");
  EXPECT_NE(os_image_name("0123", {{"hw_disk_bus", "scsi"}}), os_image_name("0123", {{"hw_disk_bus", "virtio"}}));
}

TEST(OpenstackPlan, IsFastForManyMachines) {
  const config::InstallConfig config = config_with(usual, "compute: [{name: worker, replicas: 497}]");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(count(plan_of(config), machine_kind), 501);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace slipway::provider::openstack
