#include "base/text.h"
#include "base/yaml.h"
#include "config/names.h"
#include "config/rules/platform_rules.h"

#include <algorithm>

namespace slipway::config {

namespace {

// A driver that manages machines. `scheme` is the scheme of the BMC address without the transport:
// "redfish-virtualmedia" in "redfish-virtualmedia+https://...".
struct Driver {
  std::string_view scheme;
  std::string_view transports;      // allowed after '+', "http|https"
  bool needs_provisioning_network;  // cannot boot from an image that is attached over the machine network
  bool has_secure_boot;
};
constexpr Driver drivers[] = {
    {"ibmc", "http|https", true, false},
    {"idrac", "http|https", true, false},
    {"idrac-redfish", "http|https", true, true},
    {"idrac-virtualmedia", "http|https", false, true},
    {"ilo4", "https", true, true},
    {"ilo4-virtualmedia", "https", false, true},
    {"ilo5", "https", true, true},
    {"ilo5-redfish", "http|https", true, true},
    {"ilo5-virtualmedia", "http|https", false, true},
    {"ipmi", "", true, false},
    {"irmc", "", true, true},
    {"libvirt", "", true, false},
    {"redfish", "http|https", true, true},
    {"redfish-uefihttp", "http|https", false, true},
    {"redfish-virtualmedia", "http|https", false, true},
};

struct Protocol {
  std::string_view scheme;
  std::string_view transport{};
};

// An address without a protocol uses IPMI. "ipmi:192.0.2.1" has a protocol.
Protocol protocol_of(std::string_view address) {
  const std::string_view written = address.substr(0, address.find(':'));
  const std::size_t plus = written.find('+');
  const std::string_view scheme = written.substr(0, plus);
  const bool is_known = std::ranges::find(drivers, scheme, &Driver::scheme) != std::end(drivers);
  if (!is_known && address.find("://") == std::string_view::npos) return {"ipmi"};
  return {scheme, plus == std::string_view::npos ? "" : written.substr(plus + 1)};
}

bool has_transport(const Driver& driver, std::string_view transport) {
  const std::vector<std::string_view> known = split(driver.transports, '|');
  return transport.empty() || std::ranges::find(known, transport) != known.end();
}

// Messages do not quote the address: it may contain a password.
void validate_management(const Section& host, std::string_view provisioning_network) {
  const Section bmc = host.at("bmc");
  if (bmc.value().is_null()) return;
  bmc.need("username", "of the machine's management controller");
  bmc.need("password", "of the machine's management controller");
  if (!bmc.need("address", "of the machine's management controller, 'redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1'"))
    return;
  const auto [scheme, transport] = protocol_of(bmc.text("address"));
  const auto driver = std::ranges::find(drivers, scheme, &Driver::scheme);
  if (driver == std::end(drivers)) {
    std::vector<std::string_view> known;
    for (const Driver& each : drivers) known.push_back(each.scheme);
    bmc.error_at("address", "must begin with a known protocol, got '{}'", scheme).hint("use " + choice_of(known));
    return;
  }
  if (!has_transport(*driver, transport)) {
    bmc.error_at("address", "{} does not support transport '{}'", scheme, transport)
        .hint(driver->transports.empty() ? "write nothing after its name" : "use " + choice_of(split(driver->transports, '|')));
  }
  if (provisioning_network == "Disabled" && driver->needs_provisioning_network) {
    bmc.error_at("address", "{} requires a provisioning network, but provisioningNetwork is Disabled", scheme)
        .hint("use a protocol with virtualmedia in its name");
  }
  if (host.text("bootMode") == "UEFISecureBoot" && !driver->has_secure_boot) {
    host.error_at("bootMode", "UEFISecureBoot is not supported with {}", scheme).hint("use redfish, or UEFI");
  }
}

// The config is a mapping, or YAML text of a mapping. nmstate on the machine validates its content.
void validate_network_config(const Section& host) {
  const Section config = host.at("networkConfig");
  if (!config.value().is_string()) {
    if (!config.value().is_null() && !config.value().is_object())
      config.error("must be a mapping, got {}", kind_name(config.value()));
    return;
  }
  const auto read = parse_yaml(config.text(), "networkConfig");
  if (!read.ok()) {
    config.error("is not YAML: {}", read.error().message());
  } else if (!read->value.is_object() && !read->value.is_null()) {
    config.error("must be a mapping, got {}", kind_name(read->value));
  }
}

struct Unique {
  Distinct names;
  Distinct macs;
  Distinct addresses;
};

void validate_host(const Section& host, std::string_view provisioning_network, Unique& unique) {
  if (const std::string_view name = host.text("name"); !name.empty()) {
    if (!is_dns_subdomain(name))
      host.error_at("name", "'{}' is not a DNS name", name).hint("lower-case letters, digits, dashes and dots");
    unique.names.add(host.at("name"));
  }
  if (const std::string_view mac = host.text("bootMACAddress"); !mac.empty()) {
    if (!is_mac_address(mac))
      host.error_at("bootMACAddress", "'{}' is not a unicast MAC address", mac).hint("for example 52:54:00:12:34:56");
    unique.macs.add(host.at("bootMACAddress"), to_lower(mac));
  }
  validate_management(host, provisioning_network);
  unique.addresses.add(host.at("bmc").at("address"));
  validate_root_device(host.at("rootDeviceHints"));
  validate_network_config(host);
}

// Hosts without a role become masters until there are enough masters, then workers.
void validate_counts(const Section& platform, const std::vector<Section>& hosts) {
  const Section top(platform.document(), {});
  const std::int64_t masters_wanted = top.at("controlPlane").number("replicas").value_or(0);
  std::int64_t workers_wanted = 0;
  for (const Section& pool : top.items("compute"))
    workers_wanted += std::max<std::int64_t>(pool.number("replicas").value_or(0), 0);
  std::int64_t masters = 0;
  std::int64_t workers = 0;
  for (const Section& host : hosts) {
    const std::string_view role = host.text("role");
    if (role == "master" || (role.empty() && masters < masters_wanted)) {
      ++masters;
    } else {
      ++workers;
    }
  }
  if (masters < masters_wanted) {
    platform.error_at("hosts", "has {} for the control plane, but controlPlane.replicas is {}", masters, masters_wanted)
        .hint("add hosts or set controlPlane.replicas");
  }
  if (workers < workers_wanted) {
    platform.error_at("hosts", "has {} for workers, but compute[0].replicas is {}", workers, workers_wanted)
        .hint("add hosts or set compute[0].replicas");
  }
}

}  // namespace

void validate_root_device(const Section& hints) {
  hints.not_negative("minSizeGigabytes");
  constexpr std::string_view folder = "/dev/";
  const std::string_view name = hints.text("deviceName");
  if (name.empty()) return;
  const std::string_view rest = name.starts_with(folder) ? name.substr(folder.size()) : "";
  const bool is_by_path = rest.starts_with("disk/by-path/");
  if (rest.empty() || (rest.find('/') != std::string_view::npos && !is_by_path)) {
    hints.error_at("deviceName", "must be in /dev/ or /dev/disk/by-path/, got '{}'", name)
        .hint("other links do not exist early enough");
  }
}

void validate_baremetal_hosts(const Section& platform) {
  const std::vector<Section> hosts = platform.items("hosts");
  Unique unique;
  for (const Section& host : hosts) {
    if (host.value().is_object()) validate_host(host, platform.text("provisioningNetwork"), unique);
  }
  // Without this capability, no operator creates machines from hosts.
  if (!has_capability(platform.document(), "MachineAPI")) return;
  if (platform.need("hosts", "the machines and how they are managed")) validate_counts(platform, hosts);
}

}  // namespace slipway::config
