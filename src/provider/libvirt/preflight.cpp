#include "provider/libvirt/preflight.h"

#include "base/text.h"
#include "provider/libvirt/cluster_plan.h"
#include "provider/libvirt/xml.h"

#include <algorithm>
#include <numeric>

namespace slipway::provider::libvirt {

namespace {

constexpr std::string_view section = "platform.libvirt";
// The machine OS as a disk image, and the configs.
constexpr std::uint64_t least_space = 2ull << 30;

void check_network(Findings& found, const config::InstallConfig& config, std::string_view infra_id, const HostState& state) {
  const std::string bridge = text_of(config.platform.section, {"network", "if"});
  const Result<net::Cidr> own = net::parse_cidr(config.networking.machine_network.at(0));
  for (const Network& network : state.networks) {
    if (network.name == infra_id) continue;
    const Result<NetworkFacts> facts = read_network(network.xml);
    if (!facts.ok()) continue;
    if (facts->bridge == bridge) {
      found.error({}, "platform.libvirt.network.if", "bridge {} is used by network {}", bridge, network.name)
          .hint("choose the name of another bridge");
    }
    if (!network.is_active || !own.ok()) continue;
    for (const net::Cidr& address : facts->addresses) {
      if (!own->overlaps(address)) continue;
      found
          .error({}, "networking.machineNetwork", "{} overlaps with network {} of the host, which has {}",
                 net::to_string(own.value()), network.name, net::to_string(address))
          .hint("choose another network");
    }
  }
}

void check_pool(Findings& found, const std::string& name, const HostState& state, std::uint64_t disks) {
  if (!state.pool) {
    found.error({}, "platform.libvirt.storagePool", "the host has no pool {}", name)
        .hint("create it with virsh, or remove the field: slipway then creates a pool for the cluster");
    return;
  }
  if (!state.pool->is_active) {
    found.error({}, "platform.libvirt.storagePool", "pool {} is not active", name).hint(fmt::format("virsh pool-start {}", name));
    return;
  }
  if (state.pool->available < least_space) {
    found
        .error({}, "platform.libvirt.storagePool", "pool {} has {} free, but the machine OS alone needs {}", name,
               human_size(state.pool->available), human_size(least_space))
        .hint("free space in the pool, or use another one");
  } else if (state.pool->available < disks) {
    found.warning({}, "platform.libvirt.storagePool", "pool {} has {} free, but the disks of the machines can grow to {}", name,
                  human_size(state.pool->available), human_size(disks));
  }
}

}  // namespace

Findings check_host(const config::InstallConfig& config, std::string_view infra_id, const HostState& state,
                    const std::vector<Machine>& machines) {
  Findings found;
  std::uint64_t memory = 0, disks = 0;
  int most_cpus = 0;
  for (const Machine& machine : machines) {
    const Size size = size_of(config, machine.role);
    memory += size.memory;
    disks += size.disk;
    most_cpus = std::max(most_cpus, size.cpus);
  }
  if (!state.has_kvm) {
    found
        .warning(
            {}, std::string(section),
            "the host has no usable KVM, so machines are emulated, ten to twenty times slower; waits last up to {} times longer",
            pace_of_emulation)
        .hint("enable virtualization in the firmware of the host, and load the module kvm_intel or kvm_amd");
  }
  if (state.host.free_memory < memory) {
    found.warning({}, std::string(section), "the host has {} of memory free, but the machines have {} in total",
                  human_size(state.host.free_memory), human_size(memory));
  }
  if (most_cpus > state.host.processors) {
    found.warning({}, std::string(section), "machines have {} virtual processors, but the host has {} processors", most_cpus,
                  state.host.processors);
  }
  if (text_of(config.platform.section, {"network", "bridge"}).empty()) check_network(found, config, infra_id, state);
  if (const std::string pool = text_of(config.platform.section, {"storagePool"}); !pool.empty())
    check_pool(found, pool, state, disks);
  return found;
}

}  // namespace slipway::provider::libvirt
