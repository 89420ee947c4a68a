#include "provider/libvirt/cluster_plan.h"

#include "base/digest.h"
#include "base/findings.h"
#include "provider/planned_machines.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::libvirt {

namespace {

constexpr std::uint64_t first_machine = 10;
constexpr std::string_view os_volume_mark = ".os-";
// What follows the name of a machine in the names of its volumes. QEMU's log daemon adds a number to older console logs.
constexpr std::array volume_endings = {std::string_view("ign"),           std::string_view("config.iso"),
                                       std::string_view("qcow2"),         std::string_view("console.log"),
                                       std::string_view("console.log.0"), std::string_view("console.log.1"),
                                       std::string_view("console.log.2")};
// The folder in which openshift-install creates pools.
constexpr std::string_view pools_folder = "/var/lib/libvirt/openshift-images";

std::string number_of(const net::Cidr& network, std::uint64_t n) { return net::to_string(network.host(n).value()); }

std::uint64_t size_of_network(const net::Cidr& network) { return std::uint64_t{1} << (network.bits() - network.prefix); }

Result<net::Cidr> network_of(const config::InstallConfig& config) {
  const net::Cidr network = TRY(net::parse_cidr(config.networking.machine_network.at(0)));
  constexpr int smallest = 27;
  if (network.is_v4() && network.prefix <= smallest) return network;
  return error(Code::invalid, "networking.machineNetwork: {} is too small (use an IPv4 network of /{} or larger)",
               config.networking.machine_network.at(0), smallest);
}

std::string bridge_of_host(const config::InstallConfig& config) {
  return text_of(config.platform.section, {"network", "bridge"});
}

std::string pool_of_host(const config::InstallConfig& config) { return text_of(config.platform.section, {"storagePool"}); }

std::int64_t number(const Json& object, std::string_view name) {
  const Json* value = find(object, {name});
  return value && value->is_int64() ? value->get_int64() : 0;
}

struct Builder {
  const PlanInput& input;
  plan::Plan plan{};

  std::string pool() const {
    const std::string of_host = pool_of_host(input.config);
    return of_host.empty() ? input.infra_id : of_host;
  }

  std::string pool_need() const { return pool_of_host(input.config).empty() ? fmt::format("{}/{}", pool_kind, pool()) : ""; }

  void add_pool() {
    if (!pool_of_host(input.config).empty()) return;
    plan.push_back({.kind = std::string(pool_kind),
                    .name = input.infra_id,
                    .spec = {{"path", fmt::format("{}/{}", pools_folder, input.infra_id)}}});
  }

  // The same network whichever machines are planned: with the addresses of all machines of the config.
  Result<> add_network() {
    if (!bridge_of_host(input.config).empty()) return Ok{};
    const AddressPlan addresses{TRY(network_of(input.config))};
    JsonArray hosts, options;
    for (const Machine& machine : TRY(addressed_machines(input.config))) {
      hosts.push_back(
          {{"mac", mac_address(input.infra_id, machine.name)}, {"machine", machine.name}, {"address", machine.address}});
    }
    for (const Json& option : find_array(input.config.platform.section, {"network", "dnsmasqOptions"})) {
      options.emplace_back(fmt::format("{}={}", text_of(option, {"name"}), text_of(option, {"value"})));
    }
    plan.push_back({.kind = std::string(network_kind),
                    .name = input.infra_id,
                    .spec = {{"bridge", text_of(input.config.platform.section, {"network", "if"})},
                             {"domain", input.config.cluster_domain()},
                             {"gateway", addresses.gateway()},
                             {"prefix", addresses.network.prefix},
                             {"rangeStart", addresses.range_start()},
                             {"rangeEnd", addresses.range_end()},
                             {"apiVIP", config::api_vips(input.config).at(0)},
                             {"ingressVIP", config::ingress_vips(input.config).at(0)},
                             {"hosts", std::move(hosts)},
                             {"options", std::move(options)}}});
    return Ok{};
  }

  // Returns the key.
  std::string add_volume(const std::string& name, const std::string& machine, std::vector<std::string> needs, JsonObject spec) {
    spec["pool"] = pool();
    if (const std::string need = pool_need(); !need.empty()) needs.push_back(need);
    plan::Resource volume{
        .kind = std::string(volume_kind), .name = name, .machine = machine, .needs = std::move(needs), .spec = std::move(spec)};
    std::string key = volume.key();
    if (std::ranges::find(plan, key, &plan::Resource::key) == plan.end()) plan.push_back(std::move(volume));
    return key;
  }

  void add_machine(const PlannedMachine& planned) {
    const std::string& name = planned.machine.name;
    const Channel channel = channel_for(planned.ignition_size);
    const Size size = size_of(input.config, planned.machine.role);
    const std::string base = os_volume_name(input.infra_id, input.os_image, channel);
    const std::string own = machine_name(input.infra_id, name);
    const bool has_medium = channel == Channel::config_drive;
    const std::string config = own + (has_medium ? ".config.iso" : ".ign");
    const std::string os =
        add_volume(base, "", {}, {{"from", from_os_image}, {"platform", ignition_platform(channel)}, {"mode", "0644"}});
    const std::string config_key =
        add_volume(config, name, {}, {{"from", has_medium ? from_config_drive : from_ignition}, {"mode", "0600"}});
    const std::string disk_key = add_volume(disk_name(input.infra_id, name), name, {os},
                                            {{"from", from_base}, {"base", base}, {"capacity", size.disk}, {"mode", "0600"}});
    const std::string bridge = bridge_of_host(input.config);
    std::vector<std::string> needs = {config_key, disk_key};
    if (bridge.empty()) needs.push_back(fmt::format("{}/{}", network_kind, input.infra_id));
    plan.push_back({.kind = std::string(machine_kind),
                    .name = own,
                    .machine = name,
                    .needs = std::move(needs),
                    .spec = {{"virtualization", input.virtualization},
                             {"pool", pool()},
                             {"disk", disk_name(input.infra_id, name)},
                             {"config", config},
                             {"channel", has_medium ? "config-drive" : "fw_cfg"},
                             {"consoleLog", console_log_name(input.infra_id, name)},
                             {"cpus", size.cpus},
                             {"memoryMiB", size.memory >> 20},
                             {"firmware", text_of(input.config.platform.section, {"firmware"})},
                             {"mac", mac_address(input.infra_id, name)},
                             {"interface", bridge.empty() ? "network" : "bridge"},
                             {"network", bridge.empty() ? input.infra_id : bridge},
                             {"cluster", input.infra_id},
                             {"machine", name},
                             {"role", planned.machine.role},
                             {"after", planned.after},
                             {"release", input.release},
                             {"version", input.release_version}}});
  }
};

}  // namespace

Channel channel_for(std::size_t ignition_size) {
  return ignition_size > largest_fw_cfg ? Channel::config_drive : Channel::fw_cfg;
}

std::string_view ignition_platform(Channel channel) { return channel == Channel::fw_cfg ? "qemu" : "openstack"; }

std::string AddressPlan::gateway() const { return number_of(network, 1); }
std::string AddressPlan::range_start() const { return number_of(network, size_of_network(network) / 2); }
std::string AddressPlan::range_end() const { return number_of(network, size_of_network(network) - 2); }

Result<> check_config(const config::InstallConfig& config) {
  Findings findings;
  const std::vector<std::string> api = config::api_vips(config), ingress = config::ingress_vips(config);
  const Result<net::Cidr> network = network_of(config);
  if (!network.ok()) return network.error();
  if (api.empty() || ingress.empty()) {
    findings.error({"install-config.yaml"}, "platform.libvirt", "has no virtual addresses for the API and the applications")
        .hint(fmt::format("add apiVIPs: [{}] and ingressVIPs: [{}], or other free addresses of the machine network",
                          number_of(network.value(), 5), number_of(network.value(), 7)));
  }
  if (bridge_of_host(config).empty()) {
    const AddressPlan addresses{network.value()};
    for (const auto& [name, list] : {std::pair{"apiVIPs", api}, std::pair{"ingressVIPs", ingress}}) {
      for (const std::string& text : list) {
        const Result<net::IpAddress> address = net::parse_ip(text);
        if (!address.ok() || address.value() < network->host(size_of_network(network.value()) / 2).value()) continue;
        findings
            .error({"install-config.yaml"}, fmt::format("platform.libvirt.{}", name), "{} may be given to a machine by DHCP",
                   text)
            .hint(fmt::format("use an address below {}", addresses.range_start()));
      }
      if (std::ranges::find(list, net::to_string(network->network())) != list.end()) {
        findings.error({"install-config.yaml"}, fmt::format("platform.libvirt.{}", name), "{} is the address of the network",
                       net::to_string(network->network()));
      }
      if (std::ranges::find(list, addresses.gateway()) == list.end()) continue;
      findings.error({"install-config.yaml"}, fmt::format("platform.libvirt.{}", name), "{} is the address of the libvirt host",
                     addresses.gateway());
    }
  }
  TRY(findings.to_result());
  TRY(addressed_machines(config));
  return Ok{};
}

Result<std::vector<Machine>> addressed_machines(const config::InstallConfig& config) {
  std::vector<Machine> machines = planned_machines(config);
  if (!bridge_of_host(config).empty()) return machines;
  const net::Cidr network = TRY(network_of(config));
  std::vector<std::string> taken = config::api_vips(config);
  std::ranges::move(config::ingress_vips(config), std::back_inserter(taken));
  std::uint64_t next = first_machine;
  for (Machine& machine : machines) {
    do machine.address = number_of(network, next++);
    while (std::ranges::find(taken, machine.address) != taken.end());
  }
  if (next <= size_of_network(network) / 2) return machines;
  return error(Code::invalid,
               "networking.machineNetwork: {} has too few addresses for {} machines (use a larger network, or fewer machines)",
               config.networking.machine_network.at(0), machines.size());
}

std::string mac_address(std::string_view infra_id, std::string_view machine) {
  const std::string digest = sha256_hex(fmt::format("{} {}", infra_id, machine));
  return fmt::format("52:54:00:{}:{}:{}", digest.substr(0, 2), digest.substr(2, 2), digest.substr(4, 2));
}

std::string machine_name(std::string_view infra_id, std::string_view machine) { return fmt::format("{}-{}", infra_id, machine); }
std::string disk_name(std::string_view infra_id, std::string_view machine) { return machine_name(infra_id, machine) + ".qcow2"; }
std::string console_log_name(std::string_view infra_id, std::string_view machine) {
  return machine_name(infra_id, machine) + ".console.log";
}

std::string os_volume_name(std::string_view infra_id, std::string_view image, Channel channel) {
  return fmt::format("{}{}{}-{}.qcow2", infra_id, os_volume_mark, image, ignition_platform(channel));
}

std::optional<std::string> os_image_of_volume(std::string_view infra_id, std::string_view volume) {
  const std::size_t begin = infra_id.size() + os_volume_mark.size(), dash = volume.rfind('-');
  if (!volume.starts_with(infra_id) || !volume.substr(infra_id.size()).starts_with(os_volume_mark)) return std::nullopt;
  if (!volume.ends_with(".qcow2") || dash == std::string_view::npos || dash <= begin) return std::nullopt;
  return std::string(volume.substr(begin, dash - begin));
}

std::string machine_of_volume(std::string_view infra_id, std::string_view volume) {
  if (!volume.starts_with(infra_id) || !volume.substr(infra_id.size()).starts_with('-')) return "";
  const std::string_view rest = volume.substr(infra_id.size() + 1);
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos || std::ranges::find(volume_endings, rest.substr(dot + 1)) == volume_endings.end()) return "";
  return std::string(rest.substr(0, dot));
}

Size size_of(const config::InstallConfig& config, std::string_view role) {
  const bool is_worker = role == "worker" && !config.compute.empty();
  const Json& pool = is_worker ? config.compute.front().platform : config.control_plane.platform;
  return {.cpus = static_cast<int>(number(pool, "cpus")),
          .memory = static_cast<std::uint64_t>(number(pool, "memoryMiB")) << 20,
          .disk = static_cast<std::uint64_t>(number(pool, "diskGiB")) << 30};
}

Result<plan::Plan> cluster_plan(const PlanInput& input, const std::vector<PlannedMachine>& machines) {
  Builder builder{input};
  builder.add_pool();
  TRY(builder.add_network());
  for (const PlannedMachine& machine : machines) builder.add_machine(machine);
  return std::move(builder.plan);
}

}  // namespace slipway::provider::libvirt
