#include "base/text.h"
#include "config/document.h"
#include "net/ip.h"

#include <optional>
#include <vector>

namespace slipway::config {

namespace {

// Virtual addresses on the local platform: machines start at host 10, the first address is the owner's
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

std::optional<net::IpAddress> validate_virtual_address(Document& document, const std::string& list) {
  const std::string path = "platform.local." + list;
  const JsonArray& addresses = find_array(document.value, {"platform", "local", list});
  if (addresses.empty()) return std::nullopt;  // without a usable machine network there is no default
  if (addresses.size() > 1) {
    document.error(path, "has {} addresses, must have one", addresses.size());
    return std::nullopt;
  }
  if (!addresses[0].is_string()) return std::nullopt;
  const std::string_view text = addresses[0].get_string();
  const auto address = net::parse_ip(text);
  if (!address.ok() || !address->is_v4()) {
    document.error(path + "[0]", "'{}' is no IPv4 address", text);
    return std::nullopt;
  }
  const std::optional<net::Cidr> network = first_machine_network(document);
  if (network && !is_virtual_host(*network, address.value())) {
    const auto first = network->host(first_virtual);
    const auto last = network->host(last_virtual);
    auto added = document.error(path + "[0]", "{} is not among the addresses of {} that machines do not get", text,
                                net::to_string(*network));
    if (first.ok() && last.ok())
      added.hint(fmt::format("use {} to {}", net::to_string(first.value()), net::to_string(last.value())));
  }
  return address.value();
}

void validate_local(Document& document) {
  const auto api = validate_virtual_address(document, "apiVIPs");
  const auto ingress = validate_virtual_address(document, "ingressVIPs");
  if (api && ingress && *api == *ingress) {
    document.error("platform.local.ingressVIPs[0]", "is the address of the API too").hint("they have to differ");
  }
}

void validate_external(Document& document) {
  const std::string_view manager = document.text({"platform", "external", "cloudControllerManager"});
  if (!manager.empty() && manager != "External") {
    document.error("platform.external.cloudControllerManager", "must be External or empty, not '{}'", manager);
  }
}

}  // namespace

std::string platform_type(const Document& document) {
  const JsonObject& platform = find_object(document.value, {"platform"});
  if (platform.size() == 2 && platform.contains("none") && platform.contains("external")) return "none";
  return platform.size() == 1 ? std::string(platform.begin()->key()) : "";
}

void validate_platform(Document& document) {
  const std::string type = platform_type(document);
  const JsonObject& platform = find_object(document.value, {"platform"});
  if (type == "local") return validate_local(document);
  if (type == "external") return validate_external(document);
  if (type == "none") return;
  if (!type.empty()) {
    document.error("platform." + type, "platform {} is not supported yet by this version", type)
        .hint("there are local, none and external");
    return;
  }
  if (platform.empty()) {
    // One without a value was reported by its own name.
    for (const std::string_view name : {"platform.local", "platform.none", "platform.external"}) {
      if (document.was_given(name)) return;
    }
    document.error("platform", "must name a platform").hint("'platform: {local: {}}' for machines on this host");
    return;
  }
  std::vector<std::string> names;
  for (const auto& section : platform) names.emplace_back(section.key());
  document.error("platform", "must name one platform, has {}", join(names, " and "));
}

}  // namespace slipway::config
