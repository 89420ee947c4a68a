#include "base/digest.h"
#include "base/number.h"
#include "config/defaults.h"

#include <optional>

namespace slipway::config {

namespace {

std::optional<net::Cidr> first_machine_network(const Document& document) {
  const JsonArray& networks = find_array(document.value, {"networking", "machineNetwork"});
  const auto network = net::parse_cidr(networks.empty() ? "" : find_string(networks[0], {"cidr"}).value_or(""));
  return network.ok() ? std::optional(network.value()) : std::nullopt;
}

// The address at this offset from the address of the network; null if the network has none.
Json host_of(const net::Cidr& network, std::uint64_t number) {
  const auto found = network.host(number);
  return found.ok() ? Json(net::to_string(found.value())) : Json();
}

void fill_virtual_addresses(const Document& document, JsonObject& section) {
  const auto network = first_machine_network(document);
  if (!network) return;
  const auto fill_list = [&](std::string_view name, std::uint64_t number) {
    const Json address = host_of(*network, number);
    if (address.is_string()) fill(section, name, JsonArray{address});
  };
  fill_list("apiVIPs", 5);
  fill_list("ingressVIPs", 7);
}

// Defaults outside of the platform's section. Adding members invalidates references into the config.
void fill_top_of_local(JsonObject& config) {
  fill(config, "pullSecret", R"({"auths":{}})");
  fill(config, "credentialsMode", "Manual");
}

void fill_openstack(Document& document, JsonObject& section) {
  const Json* balancer = section.if_contains("loadBalancer");
  if (balancer && find_string(*balancer, {"type"}) == "UserManaged") return;
  fill_virtual_addresses(document, section);
}

// OpenShift's installer generates random addresses. These are derived from the name of the cluster: the same file gives the same
// assets.
std::string mac_address(const Document& document, std::string_view network) {
  const std::string digest =
      sha256_hex(fmt::format("{} {} {}", network, document.text({"metadata", "name"}), document.text({"baseDomain"})));
  int first = parse_number<int>(digest.substr(0, 2), 16).value_or(0);
  first = (first | 2) & 0xfe;       // locally administered, unicast
  if (first == 0xfe) first = 0xee;  // libvirt reserves 52:54:00:fe
  return fmt::format("52:54:00:{:02x}:{}:{}", first, digest.substr(2, 2), digest.substr(4, 2));
}

// The second largest address: the largest address of an IPv4 network is its broadcast address. Null if the network is too small,
// or larger than an IPv6 /64.
Json last_host_of(const net::Cidr& network) {
  const int host_bits = network.bits() - network.prefix;
  constexpr int word = 64;
  if (host_bits < 2 || host_bits > word) return Json();
  const std::uint64_t last = host_bits == word ? ~std::uint64_t{0} : (std::uint64_t{1} << host_bits) - 1;
  return host_of(network, last - 1);
}

void fill_provisioning(JsonObject& section) {
  fill(section, "provisioningNetworkCIDR", "172.22.0.0/24");
  fill(section, "provisioningBridge", "provisioning");
  const auto network = net::parse_cidr(find_string(section["provisioningNetworkCIDR"], {}).value_or(""));
  if (!network.ok()) return;
  constexpr std::uint64_t bootstrap = 2;
  constexpr std::uint64_t cluster = 3;
  constexpr std::uint64_t first_handed_out = 10;
  fill(section, "bootstrapProvisioningIP", host_of(network.value(), bootstrap));
  fill(section, "clusterProvisioningIP", host_of(network.value(), cluster));
  if (section["provisioningNetwork"] != Json("Managed")) return;
  const Json first = host_of(network.value(), first_handed_out);
  const Json last = last_host_of(network.value());
  if (!first.is_string() || !last.is_string()) return;
  fill(section, "provisioningDHCPRange",
       Json(fmt::format("{},{}", std::string_view(first.get_string()), std::string_view(last.get_string()))));
}

// Without a provisioning network, the provisioning services use the machine network that contains their address.
void fill_network_of_services(const Document& document, JsonObject& section) {
  const Json* written = section.if_contains("clusterProvisioningIP");
  const auto address = net::parse_ip(written ? find_string(*written, {}).value_or("") : "");
  if (!address.ok()) return;
  for (const Json& network : find_array(document.value, {"networking", "machineNetwork"})) {
    const auto cidr = net::parse_cidr(find_string(network, {"cidr"}).value_or(""));
    if (cidr.ok() && cidr->contains(address.value())) section["provisioningNetworkCIDR"] = net::to_string(cidr.value());
  }
}

void fill_baremetal(Document& document, JsonObject& section) {
  fill(section, "externalMACAddress", Json(mac_address(document, "external")));
  fill(section, "provisioningMACAddress", Json(mac_address(document, "provisioning")));
  if (section["provisioningNetwork"] == Json("Disabled")) {
    fill_network_of_services(document, section);
  } else {
    fill_provisioning(section);
  }
}

// The default of resourcePool is the root resource pool of the cluster.
void fill_vsphere(JsonObject& section) {
  for_each_topology(section, [](JsonObject& topology) {
    const std::string cluster = text_of(topology, "computeCluster"), datacenter = text_of(topology, "datacenter");
    // If the path of the cluster is wrong, validation reports it at computeCluster.
    if (cluster.starts_with(fmt::format("/{}/host/", datacenter))) fill(topology, "resourcePool", Json(cluster + "/Resources"));
  });
}

}  // namespace

void fill_platform(Document& document, std::string_view platform) {
  if (platform == "local") fill_top_of_local(document.value.as_object());
  Json& value = document.value.as_object()["platform"].as_object()[platform];
  if (!value.is_object()) return;
  JsonObject& section = value.get_object();
  // These addresses are outside of the range for machines (provider/local/address_plan.h).
  if (platform == "local") fill_virtual_addresses(document, section);
  if (platform == "openstack") fill_openstack(document, section);
  if (platform == "baremetal") fill_baremetal(document, section);
  if (platform == "vsphere") fill_vsphere(section);
}

}  // namespace slipway::config
