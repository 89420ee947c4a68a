#include "agent/networks.h"

#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::agent {

namespace {

constexpr std::string_view ethernet = "1", infiniband = "32";  // /sys/class/net/*/type: ARPHRD_ETHER, ARPHRD_INFINIBAND

// The type of an interface in the inventory; "" for interfaces that are not part of it.
std::string type_of(const SystemTree& tree, const std::string& folder) {
  const std::string link = tree.text(folder + "/type");
  if (link != ethernet && link != infiniband) return "";
  const std::string kind = tree.variable(folder + "/uevent", "DEVTYPE");
  for (const std::string_view known : {"bond", "vlan", "bridge"}) {
    if (kind == known) return kind;
  }
  if (tree.has(folder + "/device")) return "physical";
  // The index of the other end: veth and macvlan.
  return kind.empty() && tree.text(folder + "/iflink") != tree.text(folder + "/ifindex") ? "physical" : "";
}

assist::Interface read_interface(const SystemTree& tree, const std::string& name, const std::string& type) {
  const std::string folder = "/sys/class/net/" + name;
  assist::Interface found{.name = name, .mac_address = "", .type = type};
  found.mac_address = to_lower(tree.text(folder + "/bonding_slave/perm_hwaddr"));
  if (found.mac_address.empty()) found.mac_address = to_lower(tree.text(folder + "/address"));
  found.mtu = static_cast<int>(tree.number(folder + "/mtu"));
  found.speed_mbps = std::max(parse_number<int>(tree.text(folder + "/speed")).value_or(0), 0);
  found.has_carrier = tree.text(folder + "/carrier") == "1";
  found.vendor = tree.text(folder + "/device/vendor");
  found.product = tree.text(folder + "/device/device");
  return found;
}

// "0101A8C0" of /proc/net/route: the bytes of an IPv4 address as a number of this machine, which is little-endian.
std::string v4_text(std::string_view hex) {
  const unsigned long number = parse_number<unsigned long>(hex, 16).value_or(0);
  return fmt::format("{}.{}.{}.{}", number & 255, number >> 8 & 255, number >> 16 & 255, number >> 24 & 255);
}

// 32 hexadecimal digits of /proc/net/ipv6_route; "" if they are no address.
std::string v6_text(std::string_view hex) {
  std::string text;
  for (std::size_t i = 0; i + 4 <= hex.size(); i += 4) text += fmt::format("{}{}", i == 0 ? "" : ":", hex.substr(i, 4));
  const Result<net::IpAddress> address = net::parse_ip(text);
  return address.ok() ? net::to_string(address.value()) : "";
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (!(line = trim(line)).empty()) {
    const std::size_t end = line.find_first_of(" \t");
    fields.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end, line.size()));
  }
  return fields;
}

constexpr unsigned long is_up = 1, is_reject = 0x200;  // RTF_UP, RTF_REJECT

bool is_usable(std::string_view flags) {
  const unsigned long bits = parse_number<unsigned long>(flags, 16).value_or(0);
  return (bits & is_up) != 0 && (bits & is_reject) == 0;
}

void add_v4_routes(std::string_view table, std::vector<assist::Route>& routes) {
  for (const std::string_view line : split(table, '\n')) {
    const std::vector<std::string_view> fields = fields_of(line);
    // Iface Destination Gateway Flags RefCnt Use Metric Mask ...
    if (fields.size() < 8 || fields[0] == "Iface" || fields[0] == "lo" || !is_usable(fields[3])) continue;
    const std::string gateway = v4_text(fields[2]);
    routes.push_back({.interface = std::string(fields[0]),
                      .gateway = gateway == "0.0.0.0" ? "" : gateway,
                      .destination = v4_text(fields[1]),
                      .prefix = __builtin_popcountl(parse_number<unsigned long>(fields[7], 16).value_or(0)),
                      .metric = parse_number<int>(fields[6]).value_or(0)});
  }
}

void add_v6_routes(std::string_view table, std::vector<assist::Route>& routes) {
  for (const std::string_view line : split(table, '\n')) {
    const std::vector<std::string_view> fields = fields_of(line);
    // DESTINATION PREFIX SOURCE PREFIX NEXT-HOP METRIC REFCNT USE FLAGS IFACE
    if (fields.size() < 10 || fields[9] == "lo" || fields[0].starts_with("ff") || !is_usable(fields[8])) continue;
    const std::string gateway = v6_text(fields[4]);
    const int prefix = parse_number<int>(fields[1], 16).value_or(0);
    if (prefix == 128 && gateway == "::") continue;  // an address of this machine
    routes.push_back({.interface = std::string(fields[9]),
                      .gateway = gateway == "::" ? "" : gateway,
                      .destination = v6_text(fields[0]),
                      .prefix = prefix,
                      .metric = parse_number<int>(fields[5], 16).value_or(0)});
  }
}

}  // namespace

std::vector<assist::Interface> read_interfaces(const SystemTree& tree, const std::vector<net::InterfaceAddress>& addresses) {
  std::vector<assist::Interface> found;
  for (const std::string& name : tree.names("/sys/class/net")) {
    const std::string type = type_of(tree, "/sys/class/net/" + name);
    if (type.empty()) continue;
    assist::Interface interface = read_interface(tree, name, type);
    for (const net::InterfaceAddress& each : addresses) {
      if (each.interface == name && !each.is_link_local) interface.addresses.push_back(each.address);
    }
    found.push_back(std::move(interface));
  }
  return found;
}

std::vector<assist::Route> read_routes(const SystemTree& tree) {
  std::vector<assist::Route> routes;
  add_v4_routes(tree.bytes("/proc/net/route"), routes);
  add_v6_routes(tree.bytes("/proc/net/ipv6_route"), routes);
  return routes;
}

}  // namespace slipway::agent
