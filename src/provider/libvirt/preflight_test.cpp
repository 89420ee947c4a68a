#include "provider/libvirt/preflight.h"

#include <gtest/gtest.h>

namespace slipway::provider::libvirt {
namespace {

config::InstallConfig config_with(std::string_view more = "") {
  return config::load_install_config(
             fmt::format(
                 "apiVersion: v1\nbaseDomain: example.com\nmetadata: {{name: demo}}\npullSecret: "
                 "'{{\"auths\":{{\"r.example.com\":{{\"auth\":\"YTpi\"}}}}}}'\nplatform: {{libvirt: {{URI: 'qemu:///system', "
                 "apiVIPs: [192.168.126.5], ingressVIPs: [192.168.126.7]{}}}}}\n",
                 more),
             "install-config.yaml")
      .value()
      .config;
}

HostState large_host() {
  return {.host = {.free_memory = 64ull << 30, .processors = 8},
          .has_kvm = true,
          .networks = {{.name = "default",
                        .xml = "<network><bridge name='virbr0'/><ip address='192.168.122.1' netmask='255.255.255.0'/></network>",
                        .is_active = true},
                       {.name = "demo-x7k2p", .xml = "<network><bridge name='tt0'/></network>", .is_active = true}}};
}

const std::vector<Machine> machines = {{"bootstrap", "bootstrap"}, {"master-0", "master"}};

TEST(LibvirtPreflight, ALargeHostHasNoProblems) {
  EXPECT_EQ(check_host(config_with(), "demo-x7k2p", large_host(), machines).to_text(), "");
}

TEST(LibvirtPreflight, SmallHostsGiveWarnings) {
  const HostState small{.host = {.free_memory = 4ull << 30, .processors = 2}};
  const Findings found = check_host(config_with(), "demo-x7k2p", small, machines);
  EXPECT_FALSE(found.has_errors());
  EXPECT_EQ(found.to_text(),
            "warning: platform.libvirt: the host has no usable KVM, so machines are emulated, ten to twenty times slower; waits "
            "last up "
            "to 8 times longer (enable virtualization in the firmware of the host, and load the module kvm_intel or kvm_amd)\n"
            "warning: platform.libvirt: the host has 4.3 GB of memory free, but the machines have 17 GB in total\n"
            "warning: platform.libvirt: machines have 4 virtual processors, but the host has 2 processors\n");
}

TEST(LibvirtPreflight, NetworksOfTheHostThatAreInTheWay) {
  HostState state = large_host();
  state.networks[0].xml = "<network><bridge name='tt0'/><ip address='192.168.126.1' netmask='255.255.255.0'/></network>";
  EXPECT_EQ(
      check_host(config_with(), "demo-x7k2p", state, machines).to_text(),
      "error: platform.libvirt.network.if: bridge tt0 is used by network default (choose the name of another bridge)\n"
      "error: networking.machineNetwork: 192.168.126.0/24 overlaps with network default of the host, which has 192.168.126.1/24 "
      "(choose another network)\n");
  EXPECT_EQ(check_host(config_with(", network: {bridge: br0}"), "demo-x7k2p", state, machines).to_text(), "");
}

TEST(LibvirtPreflight, PoolsOfTheHost) {
  const auto config = config_with(", storagePool: fast");
  HostState state = large_host();
  EXPECT_NE(check_host(config, "demo-x7k2p", state, machines).to_text().find("the host has no pool fast"), std::string::npos);
  state.pool = Pool{.name = "fast"};
  EXPECT_NE(check_host(config, "demo-x7k2p", state, machines).to_text().find("pool fast is not active (virsh pool-start fast)"),
            std::string::npos);
  state.pool = Pool{.name = "fast", .is_active = true, .available = 1ull << 30};
  EXPECT_TRUE(check_host(config, "demo-x7k2p", state, machines).has_errors());
  state.pool->available = 20ull << 30;
  const Findings tight = check_host(config, "demo-x7k2p", state, machines);
  EXPECT_FALSE(tight.has_errors());
  EXPECT_NE(tight.to_text().find("can grow to 69 GB"), std::string::npos);
}

}  // namespace
}  // namespace slipway::provider::libvirt
