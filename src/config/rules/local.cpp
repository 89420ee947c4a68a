#include "config/rules/platform_rules.h"

namespace slipway::config {

namespace {

// Offsets of virtual addresses in the machine network. Address 1 is the gateway on the host; machines start at 10
// (provider/local/address_plan.h).
constexpr std::uint64_t first_virtual = 2;
constexpr std::uint64_t last_virtual = 9;

bool is_virtual_host(const net::Cidr& network, const net::IpAddress& address) {
  for (std::uint64_t host = first_virtual; host <= last_virtual; ++host) {
    if (const auto candidate = network.host(host); candidate.ok() && candidate.value() == address) return true;
  }
  return false;
}

std::optional<net::Cidr> first_machine_network(const Document& document) {
  const JsonArray& networks = find_array(document.value, {"networking", "machineNetwork"});
  const auto network = net::parse_cidr(networks.empty() ? "" : find_string(networks[0], {"cidr"}).value_or(""));
  return network.ok() && network->is_v4() ? std::optional(network.value()) : std::nullopt;
}

std::optional<net::IpAddress> validate_virtual_address(const Section& platform, std::string_view list) {
  const std::vector<Section> addresses = platform.items(list);
  if (addresses.empty()) return std::nullopt;  // the machine network is unusable, so there is no default
  if (addresses.size() > 1) {
    platform.error_at(list, "has {} addresses, must have one", addresses.size());
    return std::nullopt;
  }
  const Section& written = addresses[0];
  const auto address = net::parse_ip(written.text());
  if (!address.ok() || !address->is_v4()) {
    written.error("'{}' is not an IPv4 address", written.text());
    return std::nullopt;
  }
  const std::optional<net::Cidr> network = first_machine_network(platform.document());
  if (network && !is_virtual_host(*network, address.value())) {
    const auto first = network->host(first_virtual);
    const auto last = network->host(last_virtual);
    auto added =
        written.error("{} must be one of the addresses of {} that machines do not use", written.text(), net::to_string(*network));
    if (first.ok() && last.ok())
      added.hint(fmt::format("use {} to {}", net::to_string(first.value()), net::to_string(last.value())));
  }
  return address.value();
}

}  // namespace

void validate_local(const Section& platform) {
  const auto api = validate_virtual_address(platform, "apiVIPs");
  const auto ingress = validate_virtual_address(platform, "ingressVIPs");
  if (api && ingress && *api == *ingress) {
    platform.document().error(platform.path("ingressVIPs[0]"), "is also the address of the API").hint("use a different address");
  }
}

}  // namespace slipway::config
