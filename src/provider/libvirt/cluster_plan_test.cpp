#include "provider/libvirt/cluster_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway::provider::libvirt {
namespace {

config::InstallConfig config_with(std::string_view libvirt, std::string_view more = "") {
  const std::string text = fmt::format(
      "apiVersion: v1\nbaseDomain: example.com\nmetadata: {{name: demo}}\npullSecret: "
      "'{{\"auths\":{{\"r.example.com\":{{\"auth\":"
      "\"YTpi\"}}}}}}'\nplatform: {{libvirt: {}}}\n{}",
      libvirt, more);
  return config::load_install_config(text, "install-config.yaml").value().config;
}

constexpr std::string_view usual = "{URI: 'qemu:///system', apiVIPs: [192.168.126.5], ingressVIPs: [192.168.126.7]}";

plan::Plan plan_of(const config::InstallConfig& config, std::size_t bootstrap_size = 300'000) {
  std::vector<PlannedMachine> machines;
  const std::vector<Machine> planned = addressed_machines(config).value();
  for (const Machine& machine : planned) {
    const bool is_bootstrap = machine.role == "bootstrap";
    const std::string after = machine.role == "worker" ? "bootstrap" : "";
    machines.push_back({machine, is_bootstrap ? bootstrap_size : 1700, after});
  }
  return cluster_plan({.config = config, .infra_id = "demo-x7k2p", .os_image = "3f2a9c01d4e5", .virtualization = "kvm"}, machines)
      .value();
}

std::vector<std::string> keys_of(const plan::Plan& plan) {
  std::vector<std::string> keys;
  for (const plan::Resource& resource : plan) keys.push_back(resource.key());
  return keys;
}

const plan::Resource& find_in(const plan::Plan& plan, std::string_view key) {
  return *std::ranges::find_if(plan, [&](const plan::Resource& each) { return each.key() == key; });
}

TEST(LibvirtClusterPlan, APoolANetworkAndThreeResourcesForEachMachine) {
  const auto config = config_with(usual, "controlPlane: {name: master, replicas: 1}\ncompute: [{name: worker, replicas: 1}]\n");
  const plan::Plan plan = plan_of(config);
  EXPECT_EQ(keys_of(plan),
            (std::vector<std::string>{
                "pool/demo-x7k2p", "network/demo-x7k2p", "volume/demo-x7k2p.os-3f2a9c01d4e5-qemu.qcow2",
                "volume/demo-x7k2p-bootstrap.ign", "volume/demo-x7k2p-bootstrap.qcow2", "machine/demo-x7k2p-bootstrap",
                "volume/demo-x7k2p-master-0.ign", "volume/demo-x7k2p-master-0.qcow2", "machine/demo-x7k2p-master-0",
                "volume/demo-x7k2p-worker-0.ign", "volume/demo-x7k2p-worker-0.qcow2", "machine/demo-x7k2p-worker-0"}));
  const auto groups = plan::in_order(plan);
  ASSERT_TRUE(groups.ok()) << groups.error().message();
  EXPECT_EQ(groups->size(), 4u);  // pool and network, image and configs, disks, machines
  EXPECT_EQ(find_string(find_in(plan, "machine/demo-x7k2p-worker-0").spec, {"after"}), "bootstrap");
}

TEST(LibvirtClusterPlan, TheHostsPoolAndBridgeAreNotCreated) {
  const plan::Plan plan = plan_of(config_with(
      "{apiVIPs: [192.168.126.5], ingressVIPs: [192.168.126.7], storagePool: fast, network: {bridge: br0}, firmware: efi}",
      "controlPlane: {name: master, replicas: 1}\ncompute: [{name: worker, replicas: 0}]\n"));
  for (const plan::Resource& resource : plan) EXPECT_TRUE(resource.kind == volume_kind || resource.kind == machine_kind);
  const plan::Resource& machine = find_in(plan, "machine/demo-x7k2p-master-0");
  EXPECT_EQ(find_string(machine.spec, {"pool"}), "fast");
  EXPECT_EQ(find_string(machine.spec, {"interface"}), "bridge");
  EXPECT_EQ(find_string(machine.spec, {"network"}), "br0");
  EXPECT_EQ(find_string(machine.spec, {"firmware"}), "efi");
}

TEST(LibvirtClusterPlan, AConfigThatIsTooLargeForFwCfgIsOnAMedium) {
  const auto config = config_with(usual, "controlPlane: {name: master, replicas: 1}\ncompute: [{name: worker, replicas: 0}]\n");
  const plan::Plan small = plan_of(config, largest_fw_cfg);
  EXPECT_EQ(find_string(find_in(small, "machine/demo-x7k2p-bootstrap").spec, {"channel"}), "fw_cfg");
  const plan::Plan large = plan_of(config, largest_fw_cfg + 1);
  EXPECT_EQ(find_string(find_in(large, "machine/demo-x7k2p-bootstrap").spec, {"channel"}), "config-drive");
  EXPECT_EQ(find_string(find_in(large, "machine/demo-x7k2p-bootstrap").spec, {"config"}), "demo-x7k2p-bootstrap.config.iso");
  // Its disk is a layer on an image that looks for such a medium.
  EXPECT_EQ(find_string(find_in(large, "volume/demo-x7k2p-bootstrap.qcow2").spec, {"base"}),
            "demo-x7k2p.os-3f2a9c01d4e5-openstack.qcow2");
  EXPECT_EQ(find_string(find_in(large, "volume/demo-x7k2p-master-0.qcow2").spec, {"base"}),
            "demo-x7k2p.os-3f2a9c01d4e5-qemu.qcow2");
}

TEST(LibvirtClusterPlan, AddressesAreInOrderAndAvoidTheVirtualOnes) {
  const auto config =
      config_with("{apiVIPs: [192.168.126.11], ingressVIPs: [192.168.126.13]}", "compute: [{name: worker, replicas: 1}]\n");
  const std::vector<Machine> planned = addressed_machines(config).value();
  std::vector<std::string> addresses;
  for (const Machine& machine : planned) addresses.push_back(machine.name + " " + machine.address);
  EXPECT_EQ(addresses, (std::vector<std::string>{"bootstrap 192.168.126.10", "master-0 192.168.126.12", "master-1 192.168.126.14",
                                                 "master-2 192.168.126.15", "worker-0 192.168.126.16"}));
  const auto bridged = config_with("{apiVIPs: [192.168.126.11], ingressVIPs: [192.168.126.13], network: {bridge: br0}}");
  const std::vector<Machine> unknown = addressed_machines(bridged).value();
  for (const Machine& machine : unknown) EXPECT_EQ(machine.address, "");
}

TEST(LibvirtClusterPlan, WhatSlipwayNeedsOfAConfig) {
  struct Case {
    std::string_view libvirt;
    std::string_view network;
    std::string_view says;  // "": nothing
  };
  constexpr Case cases[] = {
      {usual, "192.168.126.0/24", ""},
      {"{}", "192.168.126.0/24",
       "install-config.yaml: error: platform.libvirt: has no virtual addresses for the API and the applications (add apiVIPs: "
       "[192.168.126.5] and ingressVIPs: [192.168.126.7], or other free addresses of the machine network)"},
      {"{apiVIPs: [192.168.126.130], ingressVIPs: [192.168.126.1]}", "192.168.126.0/24",
       "install-config.yaml: error: platform.libvirt.apiVIPs: 192.168.126.130 may be given to a machine by DHCP (use an address "
       "below 192.168.126.128)\ninstall-config.yaml: error: platform.libvirt.ingressVIPs: 192.168.126.1 is the address of the "
       "libvirt host"},
      {"{apiVIPs: [192.168.126.5], ingressVIPs: [192.168.126.7]}", "192.168.126.0/28",
       "networking.machineNetwork: 192.168.126.0/28 is too small (use an IPv4 network of /27 or larger)"},
      {"{apiVIPs: [192.168.126.5], ingressVIPs: [192.168.126.7]}", "192.168.126.0/27",
       "networking.machineNetwork: 192.168.126.0/27 has too few addresses for 7 machines (use a larger network, or fewer "
       "machines)"},
  };
  for (const Case& each : cases) {
    const Result<> checked =
        check_config(config_with(each.libvirt, fmt::format("networking: {{machineNetwork: [{{cidr: {}}}]}}\n", each.network)));
    EXPECT_EQ(checked.ok() ? "" : checked.error().message(), each.says);
  }
}

TEST(LibvirtClusterPlan, NamesOfOtherClustersAreNotTakenForOwnOnes) {
  EXPECT_EQ(machine_of_volume("c1-x7k2p", "c1-x7k2p-master-0.qcow2"), "master-0");
  EXPECT_EQ(machine_of_volume("c1-x7k2p", "c1-x7k2p-master-10.console.log.0"), "master-10");
  for (const std::string_view foreign : {"c10-x7k2p-master-0.qcow2", "c1-x7k2pp-master-0.qcow2", "c1-x7k2p.qcow2",
                                         "master-0.qcow2", "c1-x7k2p-master-0.qcow2.bak", "c1-x7k2p-master-0"}) {
    EXPECT_EQ(machine_of_volume("c1-x7k2p", foreign), "") << foreign;
  }
  EXPECT_EQ(os_image_of_volume("c1-x7k2p", "c1-x7k2p.os-3f2a9c01d4e5-qemu.qcow2"), "3f2a9c01d4e5");
  for (const std::string_view other :
       {"c10-x7k2p.os-3f2a-qemu.qcow2", "c1-x7k2p.os-3f2a-qemu.raw", "c1-x7k2p.os-.qcow2", "c1-x7k2p"}) {
    EXPECT_EQ(os_image_of_volume("c1-x7k2p", other), std::nullopt) << other;
  }
}

TEST(LibvirtClusterPlan, EachMachineHasItsOwnMacAddress) {
  std::set<std::string> all;
  for (const std::string_view cluster : {"a-x7k2p", "b-x7k2p"}) {
    for (int i = 0; i < 100; ++i) all.insert(mac_address(cluster, fmt::format("worker-{}", i)));
  }
  EXPECT_EQ(all.size(), 200u);
  EXPECT_EQ(all.begin()->substr(0, 9), "52:54:00:");
}

}  // namespace
}  // namespace slipway::provider::libvirt
