#include "assets/ignition/bootstrap_variants.h"

#include "assets/identity/stream.h"
#include "base/text.h"
#include "net/ip.h"

#include <algorithm>

namespace slipway::assets {

namespace {

using config::InstallConfig;

struct Row {
  std::string_view platform;
  std::vector<std::string_view> folders;
};
const std::vector<Row> rows = {
    {"baremetal", {"on-premise", "baremetal"}}, {"gcp", {"gcp"}},
    {"openstack", {"on-premise", "openstack"}}, {"ovirt", {"on-premise", "ovirt"}},
    {"vsphere", {"on-premise", "vsphere"}},
};

constexpr std::size_t password_length = 16;
constexpr std::string_view password_alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view ironic_user = "bootstrap-user";

bool is_v6(std::string_view text) { return text.find(':') != std::string_view::npos; }

// "[fd00::5]", "192.168.111.5"
std::string host_in_url(const std::string& address) { return is_v6(address) ? fmt::format("[{}]", address) : address; }

// Escapes a text for double quotes in a systemd EnvironmentFile.
std::string quoted(std::string_view text) {
  std::string result;
  for (const char c : trim(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// The prefix length of a network; empty if the text is no network.
std::string prefix_of(std::string_view cidr) {
  const auto network = net::parse_cidr(cidr);
  return network.ok() ? std::to_string(network->prefix) : "";
}

// "192.168.111.20/24": the address with the prefix length of its machine network.
std::string with_prefix(const InstallConfig& config, std::string_view text) {
  const auto address = net::parse_ip(text);
  for (const std::string& each : config.networking.machine_network) {
    const auto network = net::parse_cidr(each);
    if (address.ok() && network.ok() && network->contains(address.value())) return fmt::format("{}/{}", text, network->prefix);
  }
  return std::string(text);
}

// MAC addresses of the hosts that become the control plane: the first hosts whose role is not worker.
std::string control_plane_macs(const InstallConfig& config) {
  std::vector<std::string> addresses;
  for (const Json& host : find_array(config.platform.section, {"hosts"})) {
    if (static_cast<int>(addresses.size()) == config.control_plane.replicas) break;
    if (find_string(host, {"role"}).value_or("") == "worker") continue;
    addresses.emplace_back(find_string(host, {"bootMACAddress"}).value_or(""));
  }
  return join(addresses, " ");
}

TemplateValues baremetal_values(const InstallConfig& config, const IronicCredentials& ironic) {
  const auto field = [&](std::string_view name) { return text_of(config.platform.section, {name}); };
  const std::string network = field("provisioningNetwork"), cidr = field("provisioningNetworkCIDR");
  const bool has_network = network != "Disabled", is_managed = network == "Managed";

  const std::vector<std::string> vips = config::api_vips(config);
  const std::string vip = vips.empty() ? "" : vips.front();
  const auto second = std::ranges::find_if(vips, is_v6);
  const bool is_dual = second != vips.end() && !std::ranges::all_of(vips, is_v6);
  const bool is_provisioned_by_v6 = is_v6(has_network ? cidr : vip);
  const std::string external_address = field("bootstrapExternalStaticIP");
  return {
      {"IRONIC_USER", ironic.user},
      {"IRONIC_PASSWORD", ironic.password.reveal()},
      {"IRONIC_IP", vip},
      {"IRONIC_HOST", host_in_url(vip)},
      {"IRONIC_EXTERNAL_URL_V6", is_dual ? fmt::format("http://{}:6180/", host_in_url(*second)) : ""},
      {"SSH_KEY", quoted(config.ssh_key)},
      {"CONTROL_PLANE_REPLICAS", std::to_string(config.control_plane.replicas)},
      {"PROVISIONING_NETWORK", network},
      {"PROVISIONING_MAC", field(has_network ? "provisioningMACAddress" : "externalMACAddress")},
      {"PROVISIONING_SUBNET", has_network ? fmt::format("{}/{}", field("bootstrapProvisioningIP"), prefix_of(cidr)) : "/0"},
      {"PROVISIONING_FAMILY", is_provisioned_by_v6 ? "ip6" : "ip4"},
      {"PROVISIONING_UNITS", has_network ? "Requires=provisioning-interface.service\nWants=ironic-dnsmasq.service\n" : ""},
      {"IPTABLES", is_provisioned_by_v6 ? "ip6tables" : "iptables"},
      {"DHCP_RANGE", is_managed ? fmt::format("{},{}", field("provisioningDHCPRange"), prefix_of(cidr)) : ""},
      {"DHCP_ALLOW_MACS", is_managed ? control_plane_macs(config) : ""},
      // On dual-stack networks the address family is not known in advance.
      {"EXTERNAL_FAMILY_LINE", is_dual ? "" : fmt::format("EXTERNAL_IP_FAMILY={}\n", is_v6(vip) ? "ip6" : "ip4")},
      {"EXTERNAL_MAC", field("externalMACAddress")},
      {"EXTERNAL_FAMILY", is_v6(external_address) ? "ipv6" : "ipv4"},
      {"EXTERNAL_ADDRESS", with_prefix(config, external_address)},
      {"EXTERNAL_GATEWAY", field("bootstrapExternalStaticGateway")},
      {"EXTERNAL_DNS", field("bootstrapExternalStaticDNS")},
  };
}

}  // namespace

std::vector<std::string_view> variant_folders(const InstallConfig& config) {
  const auto row = std::ranges::find(rows, config.platform.type, &Row::platform);
  return row == rows.end() ? std::vector<std::string_view>() : row->folders;
}

TemplateValues variant_values(const InstallConfig& config, const IronicCredentials& ironic) {
  return config.platform.type == "baremetal" ? baremetal_values(config, ironic) : TemplateValues();
}

std::map<std::string, std::string> silent_files(const InstallConfig& config) {
  if (config.platform.type == "vsphere" && config::api_vips(config).empty()) {
    return {{"/etc/NetworkManager/conf.d/99-vsphere.conf", ""}};
  }
  if (config.platform.type == "baremetal" &&
      find_string(config.platform.section, {"bootstrapExternalStaticIP"}).value_or("").empty()) {
    return {{"/etc/NetworkManager/system-connections/nmconnection", "\n"}};
  }
  return {};
}

Result<IronicCredentials> make_ironic_credentials(const InstallConfig& config, const Randomness& random) {
  if (config.platform.type != "baremetal") return IronicCredentials{};
  Stream stream(random, "ironic credentials");
  std::string password = TRY(sys::random_text(stream, password_length, password_alphabet));
  return IronicCredentials{std::string(ironic_user), Secret(std::move(password))};
}

}  // namespace slipway::assets
