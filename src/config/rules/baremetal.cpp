// OpenShift's installer reports some of these errors only when it creates machines. Here all errors are reported together.
#include "base/text.h"
#include "config/names.h"
#include "config/rules/platform_rules.h"
#include "net/url.h"

#include <algorithm>

namespace slipway::config {

namespace {

std::string_view provisioning_of(const Section& platform) { return platform.text("provisioningNetwork"); }

struct AddressRange {
  net::IpAddress first;
  net::IpAddress last;

  bool contains(const net::IpAddress& address) const {
    return address.is_v4() == first.is_v4() && first <= address && address <= last;
  }
};

std::optional<net::Cidr> validate_network(const Section& platform) {
  const std::string_view name = "provisioningNetworkCIDR";
  const std::string_view written = platform.text(name);
  if (written.empty()) return std::nullopt;
  const auto network = net::parse_cidr(written);
  if (!network.ok()) {
    platform.error_at(name, "'{}' is not a network", written).hint("for example 172.22.0.0/24");
    return std::nullopt;
  }
  if (network->has_host_bits()) {
    platform.error_at(name, "{} has host bits set", written)
        .hint(fmt::format("the network is {}", net::to_string(net::Cidr{network->network(), network->prefix})));
    return std::nullopt;
  }
  constexpr int smallest_v6_prefix = 64;  // dnsmasq does not accept larger networks
  if (!network->is_v4() && provisioning_of(platform) == "Managed" && network->prefix < smallest_v6_prefix) {
    platform.error_at(name, "{} is too large", written).hint(fmt::format("/{} or smaller", smallest_v6_prefix));
  }
  for (const Section& item : Section(platform.document(), {"networking"}).items("machineNetwork")) {
    const auto machines = net::parse_cidr(item.text("cidr"));
    if (!machines.ok() || !machines->overlaps(network.value())) continue;
    platform.error_at(name, "{} overlaps {} of {}", written, item.text("cidr"), item.path("cidr"));
  }
  return network.value();
}

std::optional<AddressRange> validate_range(const Section& platform, const net::Cidr& network) {
  const std::string_view name = "provisioningDHCPRange";
  const std::string_view written = platform.text(name);
  if (written.empty() || provisioning_of(platform) != "Managed") return std::nullopt;
  const std::vector<std::string_view> ends = split(written, ',');
  if (ends.size() != 2) {
    platform.error_at(name, "must be two addresses separated by a comma, got '{}'", written);
    return std::nullopt;
  }
  std::vector<net::IpAddress> addresses;
  for (const std::string_view end : ends) {
    const auto address = net::parse_ip(end);
    if (!address.ok()) {
      platform.error_at(name, "'{}' is not an IP address", end);
    } else if (!network.contains(address.value())) {
      platform.error_at(name, "{} is not in the provisioning network {}", end, net::to_string(network));
    } else {
      addresses.push_back(address.value());
    }
  }
  if (addresses.size() != 2) return std::nullopt;
  if (addresses[1] < addresses[0]) platform.error_at(name, "the end is before the start: '{}'", written);
  return AddressRange{addresses[0], addresses[1]};
}

void validate_services(const Section& platform, const net::Cidr& network, const std::optional<AddressRange>& range) {
  for (const std::string_view name : {"bootstrapProvisioningIP", "clusterProvisioningIP"}) {
    const auto address = platform.at(name).address();
    if (!address) continue;
    if (!network.contains(*address)) {
      platform.error_at(name, "{} is not in the provisioning network {}", platform.text(name), net::to_string(network));
    } else if (range && range->contains(*address)) {
      platform.error_at(name, "{} is in provisioningDHCPRange", platform.text(name)).hint("machines could get it too");
    }
  }
}

// Without a provisioning network, the provisioning services are in a machine network.
void validate_services_of_machine_networks(const Section& platform) {
  for (const std::string_view name : {"bootstrapProvisioningIP", "clusterProvisioningIP"}) {
    const auto address = platform.at(name).address();
    if (!address || is_in_machine_networks(platform.document(), *address)) continue;
    platform.error_at(name, "{} is not in a machine network", platform.text(name))
        .hint("required with provisioningNetwork: Disabled");
  }
}

void validate_provisioning(const Section& platform) {
  if (provisioning_of(platform) == "Disabled") return validate_services_of_machine_networks(platform);
  const auto network = validate_network(platform);
  if (!network) return;
  validate_services(platform, *network, validate_range(platform, *network));
}

void validate_mac_addresses(const Section& platform) {
  Distinct macs;
  for (const std::string_view name : {"externalMACAddress", "provisioningMACAddress"}) {
    const std::string_view mac = platform.text(name);
    if (!mac.empty() && !is_mac_address(mac)) {
      platform.error_at(name, "'{}' is not a unicast MAC address", mac).hint("for example 52:54:00:12:34:56");
    }
    macs.add(platform.at(name), to_lower(mac));
  }
}

// Address, gateway and DNS server of the bootstrap machine must be given together.
void validate_bootstrap_address(const Section& platform) {
  constexpr std::string_view names[] = {"bootstrapExternalStaticIP", "bootstrapExternalStaticGateway",
                                        "bootstrapExternalStaticDNS"};
  const bool any = std::ranges::any_of(names, [&](std::string_view name) { return platform.has(name); });
  for (const std::string_view name : names) {
    if (any && platform.need(name, "set all three bootstrapExternalStatic fields, or none")) platform.at(name).address();
  }
}

// Messages do not quote URLs: they may contain credentials.
void validate_image(const Section& platform, std::string_view name) {
  const std::string_view written = platform.text(name);
  if (written.empty()) return;
  const auto url = net::parse_url(written);
  if (!url.ok()) {
    platform.error_at(name, "is not an http or https URL")
        .hint("for example https://example.com/rhcos.qcow2.gz?sha256=..., without a login");
    return;
  }
  const std::size_t query = url->target.find('?');
  std::string_view digest;
  if (query != std::string::npos) {
    for (const std::string_view part : split(std::string_view(url->target).substr(query + 1), '&')) {
      if (part.starts_with("sha256=")) digest = part.substr(7);
    }
  }
  constexpr std::size_t digits = 64;
  if (digest.size() != digits || digest.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
    platform.error_at(name, "must have ?sha256= with the {} digits of the image's checksum", digits);
  }
}

void validate_time_servers(const Section& platform) {
  for (const Section& server : platform.items("additionalNTPServers")) {
    if (!is_host(server.text())) server.error("'{}' is not a domain or IP address", server.text());
  }
}

}  // namespace

void validate_baremetal(const Section& platform) {
  if (const std::string_view uri = platform.text("libvirtURI"); !uri.empty() && !is_uri(uri)) {
    platform.error_at("libvirtURI", "'{}' is not a libvirt URI", uri).hint("for example qemu:///system");
  }
  validate_provisioning(platform);
  validate_mac_addresses(platform);
  validate_bootstrap_address(platform);
  validate_image(platform, "bootstrapOSImage");
  validate_image(platform, "clusterOSImage");
  validate_time_servers(platform);
  validate_virtual_addresses(platform, {});
  validate_baremetal_hosts(platform);
}

}  // namespace slipway::config
