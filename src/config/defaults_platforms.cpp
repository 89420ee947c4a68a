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

// The address so many above the network's, null where there is none.
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

// What is outside of the platform's section; new members move the others.
void fill_top_of_local(JsonObject& config) {
  fill(config, "pullSecret", R"({"auths":{}})");
  fill(config, "credentialsMode", "Manual");
}

void fill_openstack(Document& document, JsonObject& section) {
  const Json* balancer = section.if_contains("loadBalancer");
  if (balancer && find_string(*balancer, {"type"}) == "UserManaged") return;
  fill_virtual_addresses(document, section);
}

// OpenShift's installer draws these; here they follow from the cluster's name, so that the same file gives the same assets.
std::string mac_address(const Document& document, std::string_view network) {
  const std::string digest =
      sha256_hex(fmt::format("{} {} {}", network, document.text({"metadata", "name"}), document.text({"baseDomain"})));
  int first = parse_number<int>(digest.substr(0, 2), 16).value_or(0);
  first = (first | 2) & 0xfe;       // as drawn ones look: local, of one machine
  if (first == 0xfe) first = 0xee;  // libvirt keeps 52:54:00:fe for itself
  return fmt::format("52:54:00:{:02x}:{}:{}", first, digest.substr(2, 2), digest.substr(4, 2));
}

// The largest address but one: the last of IPv4 is everybody's. Null for a network that is too small or wider than an IPv6 /64.
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

// Without a provisioning network its services are in the machine network that their address is in.
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

// Machines of a failure domain without a resource pool go to the root of its cluster's.
void fill_vsphere(JsonObject& section) {
  for_each_topology(section, [](JsonObject& topology) {
    const std::string cluster = text_of(topology, "computeCluster"), datacenter = text_of(topology, "datacenter");
    // A path that is wrong is said of the cluster, which the user wrote.
    if (cluster.starts_with(fmt::format("/{}/host/", datacenter))) fill(topology, "resourcePool", Json(cluster + "/Resources"));
  });
}

}  // namespace

void fill_platform(Document& document, std::string_view platform) {
  if (platform == "local") fill_top_of_local(document.value.as_object());
  Json& value = document.value.as_object()["platform"].as_object()[platform];
  if (!value.is_object()) return;
  JsonObject& section = value.get_object();
  // Those of local are outside of what its machines get (provider/local/address_plan.h).
  if (platform == "local") fill_virtual_addresses(document, section);
  if (platform == "openstack") fill_openstack(document, section);
  if (platform == "baremetal") fill_baremetal(document, section);
  if (platform == "vsphere") fill_vsphere(section);
}

}  // namespace slipway::config
