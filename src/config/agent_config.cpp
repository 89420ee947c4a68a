#include "config/agent_config.h"

#include "base/text.h"
#include "base/yaml.h"
#include "config/names.h"
#include "config/rules/platform_rules.h"
#include "config/schema/tables.h"
#include "net/ip.h"
#include "net/url.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

namespace slipway::config {

namespace {

constexpr std::string_view install_file = "install-config.yaml";
constexpr int masters_of_a_cluster = 3;
// Disks of hosts are not known by these.
constexpr std::array<std::string_view, 2> hints_without_support = {"wwnWithExtension", "wwnVendorExtension"};

std::string normal_mac(std::string_view text) {
  std::string mac = to_lower(text);
  std::ranges::replace(mac, '-', ':');
  return mac;
}

struct Unique {
  Distinct names;
  Distinct macs;
};

bool has_address(const Json& network, const net::IpAddress& wanted) {
  for (const Json& interface : find_array(network, {"interfaces"})) {
    for (const char* family : {"ipv4", "ipv6"}) {
      for (const Json& each : find_array(interface, {family, "address"})) {
        const Result<net::IpAddress> found = net::parse_ip(text_of(each, {"ip"}));
        if (found.ok() && found.value() == wanted) return true;
      }
    }
  }
  return false;
}

AgentHost read_host(const Section& host) {
  AgentHost read{.hostname = std::string(host.text("hostname")), .role = std::string(host.text("role"))};
  for (const Section& each : host.items("interfaces")) {
    if (!is_mac_address(each.text("macAddress"))) continue;
    read.interfaces.push_back({std::string(each.text("name")), normal_mac(each.text("macAddress"))});
  }
  if (const Json& hints = host.at("rootDeviceHints").value(); hints.is_object()) read.root_device_hints = hints;
  if (const Json& network = host.at("networkConfig").value(); network.is_object()) read.network_config = network;
  return read;
}

AgentConfig read_config(const Section& top) {
  AgentConfig config{.rendezvous_ip = std::string(top.text("rendezvousIP"))};
  for (const Section& host : top.items("hosts")) config.hosts.push_back(read_host(host));
  for (const Section& each : top.items("additionalNTPSources")) config.time_servers.emplace_back(each.text());
  return config;
}

void check_interfaces(const Section& host, Unique& unique) {
  if (!host.need("interfaces", "a host is recognized by the MAC addresses of its interfaces")) return;
  for (const Section& each : host.items("interfaces")) {
    if (!each.need("macAddress", "for example 52:54:00:12:34:56")) continue;
    if (!is_mac_address(each.text("macAddress"))) {
      each.error_at("macAddress", "'{}' is not a unicast MAC address", each.text("macAddress"))
          .hint("for example 52:54:00:12:34:56");
    }
    unique.macs.add(each.at("macAddress"), normal_mac(each.text("macAddress")));
    if (host.has("networkConfig")) each.need("name", "the name of this interface in networkConfig");
  }
}

void check_network(const Section& host, const NetworkCheck& problems_of_network) {
  const Section network = host.at("networkConfig");
  if (network.value().is_null()) return;
  if (!network.value().is_object()) {
    network.error("must be a mapping in nmstate format, got {}", kind_name(network.value()));
    return;
  }
  if (!problems_of_network) return;
  for (const std::string& problem : problems_of_network(read_host(host))) network.error("{}", problem);
}

void check_host(const Section& host, const NetworkCheck& problems_of_network, Unique& unique) {
  if (const std::string_view name = host.text("hostname"); !name.empty()) {
    if (!is_dns_subdomain(name)) {
      host.error_at("hostname", "'{}' is not a DNS name", name).hint("lower-case letters, digits, dashes and dots");
    } else if (name == "localhost" || name.starts_with("localhost.")) {
      host.error_at("hostname", "'{}' is not the name of a host", name);
    }
    unique.names.add(host.at("hostname"));
  }
  check_interfaces(host, unique);
  const Section hints = host.at("rootDeviceHints");
  validate_root_device(hints);
  for (const std::string_view name : hints_without_support) {
    if (hints.has(name)) hints.error_at(name, "is not supported").hint("use wwn, serialNumber or deviceName");
  }
  check_network(host, problems_of_network);
}

void check_rendezvous(const Section& top) {
  if (!top.need("rendezvousIP", "the address of the master that runs the service of the installation")) return;
  const std::optional<net::IpAddress> address = top.at("rendezvousIP").address();
  if (!address) return;
  for (const Section& host : top.items("hosts")) {
    if (host.text("role") == "worker" && has_address(host.at("networkConfig").value(), *address)) {
      host.error_at("role", "the host with the rendezvousIP {} becomes a master", top.text("rendezvousIP"))
          .hint("use master, or the address of another host");
    }
  }
}

void check_alone(const Section& top, const NetworkCheck& problems_of_network) {
  top.need("apiVersion", "use v1beta1");
  top.need("kind", "use AgentConfig");
  check_rendezvous(top);
  Unique unique;
  for (const Section& host : top.items("hosts")) {
    if (host.value().is_object()) check_host(host, problems_of_network, unique);
  }
  for (const Section& server : top.items("additionalNTPSources")) {
    if (!is_host(server.text())) server.error("'{}' is not a domain or IP address", server.text());
  }
  if (const std::string_view url = top.text("bootArtifactsBaseURL"); !url.empty()) {
    if (!net::parse_url(url).ok()) {
      top.error_at("bootArtifactsBaseURL", "is not an http or https URL");  // not quoted: it may contain a password
    } else {
      top.document()
          .warning("bootArtifactsBaseURL", "no effect: files of a network boot are not made")
          .hint("boot the hosts from the image");
    }
  }
  if (top.at("minimalISO").value() == Json(true)) {
    top.error_at("minimalISO", "minimal images are not supported").hint("remove the field: the image contains everything");
  }
}

// The kinds of clusters that a host with the service can install.
void check_cluster(const InstallConfig& install, Findings& findings) {
  const Place place{std::string(install_file)};
  const int masters = install.control_plane.replicas;
  if (masters != 1 && masters != masters_of_a_cluster) {
    findings.error(place, "controlPlane.replicas", "must be 1 or {} for an agent-based installation, got {}",
                   masters_of_a_cluster, masters);
  }
  if (install.platform.type != "baremetal" && install.platform.type != "none") {
    findings.error(place, "platform", "must be baremetal or none for an agent-based installation, got {}", install.platform.type);
  }
}

void check_single_node(const AgentConfig& agent, const InstallConfig& install, Findings& findings) {
  const Place place{std::string(install_file)};
  if (install.control_plane.replicas != 1) return;
  if (const int workers = install.compute_replicas(); workers > 0) {
    findings.error(place, "compute[0].replicas", "must be 0 with one master, got {}", workers)
        .hint("workers can be added when the cluster is installed");
  }
  if (install.platform.type == "baremetal") {
    findings
        .error(place, "platform", "must be none with one master: baremetal has virtual addresses, and the only node needs none")
        .hint("your DNS resolves the names of the API and of ingress to the address of the node");
  }
  const std::string disk = install.bootstrap_in_place.value_or("");
  if (!disk.empty() && disk != in_place_disk(agent)) {
    findings.warning(place, "bootstrapInPlace.installationDisk", "no effect: agent-config.yaml chooses the disk")
        .hint("use hosts[0].rootDeviceHints.deviceName");
  }
}

void check_address(const Section& top, const InstallConfig& install) {
  const Result<net::IpAddress> address = net::parse_ip(top.text("rendezvousIP"));
  if (!address.ok()) return;
  const auto contains = [&](const std::string& text) {
    const Result<net::Cidr> network = net::parse_cidr(text);
    return network.ok() && network->contains(address.value());
  };
  const std::vector<std::string>& networks = install.networking.machine_network;
  if (std::ranges::none_of(networks, contains)) {
    top.error_at("rendezvousIP", "{} is not in networking.machineNetwork of {}: {}", top.text("rendezvousIP"), install_file,
                 join(networks, ", "));
  }
  for (const auto& vips : {api_vips(install), ingress_vips(install)}) {
    for (const std::string& vip : vips) {
      const Result<net::IpAddress> other = net::parse_ip(vip);
      if (other.ok() && other.value() == address.value())
        top.error_at("rendezvousIP", "{} is a virtual address of the cluster", vip).hint("use the address of a host");
    }
  }
}

void check_counts(const Section& top, const AgentConfig& config, const InstallConfig& install) {
  const auto count = [&](std::string_view role) {
    return static_cast<int>(std::ranges::count(config.hosts, role, &AgentHost::role));
  };
  const int hosts = static_cast<int>(config.hosts.size()), masters = install.control_plane.replicas,
            workers = install.compute_replicas();
  if (count("master") > masters) {
    top.error_at("hosts", "{} have role master, but controlPlane.replicas of {} is {}", count("master"), install_file, masters);
  }
  if (count("worker") > workers) {
    top.error_at("hosts", "{} have role worker, but compute[0].replicas of {} is {}", count("worker"), install_file, workers);
  }
  if (hosts > masters + workers) {
    top.error_at("hosts", "has {}, but {} has {} masters and {} workers", hosts, install_file, masters, workers);
  }
}

}  // namespace

CheckedAgentConfig check_agent_config(std::string_view text, std::string_view name, const NetworkCheck& problems_of_network,
                                      const InstallConfig* install) {
  const Result<YamlDocument> yaml = parse_yaml(text, name);
  if (!yaml.ok()) return {.config = {}, .findings = syntax_findings(yaml.error().message(), name)};
  Document document((std::string(name)));
  read_fields(yaml.value(), true, agent_config_fields(), document);
  const Section top(document, {});
  check_alone(top, problems_of_network);
  AgentConfig config = read_config(top);
  if (install) {
    check_cluster(*install, document.findings);
    check_single_node(config, *install, document.findings);
    check_address(top, *install);
    check_counts(top, config, *install);
  }
  return {.config = std::move(config), .findings = std::move(document.findings)};
}

JsonArray baremetal_hosts(const AgentConfig& config) {
  auto missing_masters = masters_of_a_cluster - std::ranges::count(config.hosts, "master", &AgentHost::role);
  JsonArray hosts;
  for (const AgentHost& host : config.hosts) {
    if (host.interfaces.empty()) continue;
    std::string role = host.role;
    if (role.empty()) role = missing_masters-- > 0 ? "master" : "worker";
    const std::string& mac = host.interfaces.front().mac_address;
    std::string id = mac;
    std::ranges::replace(id, ':', '-');
    hosts.push_back(unmanaged_host(host.hostname.empty() ? id : host.hostname, role, mac, id));
  }
  return hosts;
}

std::string in_place_disk(const AgentConfig& config) {
  return config.hosts.size() == 1 ? text_of(config.hosts.front().root_device_hints, {"deviceName"}) : std::string();
}

Json unmanaged_host(std::string_view name, std::string_view role, std::string_view mac_address, std::string_view id,
                    std::string_view bmc) {
  constexpr std::string_view for_documentation = "192.0.2.1";
  return {{"name", name},
          {"role", role},
          {"bootMACAddress", mac_address},
          {"bmc",
           {{"address",
             fmt::format("redfish-virtualmedia://{}/redfish/v1/Systems/{}", bmc.empty() ? for_documentation : bmc, id)},
            {"username", "unused"},
            {"password", "unused"}}}};
}

}  // namespace slipway::config
