#include "service/static_network.h"

#include "base/findings.h"
#include "base/text.h"
#include "base/yaml.h"
#include "data/data.h"
#include "ignition/make.h"
#include "net/ip.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

namespace slipway::service {

namespace {

constexpr int smallest_mtu = 68, largest_mtu = 65'535, largest_vlan = 4094;
constexpr std::array<std::string_view, 7> bond_modes = {"balance-rr", "active-backup", "balance-xor", "broadcast",
                                                        "802.3ad",    "balance-tlb",   "balance-alb"};

bool is_mac(std::string_view text) {
  if (text.size() != 17) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (i % 3 == 2 ? text[i] != ':' : !is_hex) return false;
  }
  return true;
}

// The kernel's limit; '/' and blanks would break names of files and lines.
bool is_interface_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= 15 && text != "." && text != ".." && std::ranges::all_of(text, fits);
}

// What is written to the .network file of an interface, by section.
struct Interface {
  std::string type;
  std::string mac{};  // of an ethernet interface
  std::vector<std::string> link{}, network{}, routes{};
  std::string netdev{};  // of a virtual interface
  bool has_default_route = false;
};

class Reader {
 public:
  Reader(Findings& findings, std::string place) : findings_(findings), place_(std::move(place)) {}

  std::optional<HostNetwork> read(const Json& item) {
    read_map(find(item, {"mac_interface_map"}));
    check_members(item, "", {"network_yaml", "mac_interface_map"});
    const Result<YamlDocument> document = parse_yaml(text_of(item, {"network_yaml"}), place_ + ".network_yaml");
    if (!document.ok()) {
      findings_.error({}, place_ + ".network_yaml", "{}", document.error().message());
      return std::nullopt;
    }
    const Json& state = document->value;
    check_members(state, "network_yaml", {"interfaces", "dns-resolver", "routes"});
    const JsonArray& interfaces = find_array(state, {"interfaces"});
    if (interfaces.empty()) wrong("network_yaml.interfaces", "missing");
    for (std::size_t i = 0; i < interfaces.size(); ++i)
      read_interface(interfaces[i], fmt::format("network_yaml.interfaces[{}]", i));
    for (const auto& [name, port] : ports_) link(name, port.first, port.second);
    const JsonArray& routes = find_array(state, {"routes", "config"});
    for (std::size_t i = 0; i < routes.size(); ++i) read_route(routes[i], fmt::format("network_yaml.routes.config[{}]", i));
    read_names(state);
    if (!is_fine_) return std::nullopt;
    return files();
  }

 private:
  template <class... Values>
  void wrong(const std::string& field, fmt::format_string<Values...> text, Values&&... values) {
    is_fine_ = false;
    findings_.error({}, fmt::format("{}.{}", place_, field), "{}", fmt::format(text, std::forward<Values>(values)...));
  }

  void check_members(const Json& value, const std::string& field, std::initializer_list<std::string_view> known) {
    if (!value.is_object()) return wrong(field, "must be an object, is {}", kind_name(value));
    for (const auto& member : value.get_object()) {
      if (std::find(known.begin(), known.end(), std::string_view(member.key())) == known.end())
        wrong(field.empty() ? to_utf8(member.key()) : fmt::format("{}.{}", field, to_utf8(member.key())),
              "this field is not supported");
    }
  }

  void read_map(const Json* map) {
    if (!map || !map->is_array() || map->get_array().empty())
      return wrong("mac_interface_map", "must be a list with the host's interfaces");
    for (std::size_t i = 0; i < map->get_array().size(); ++i) {
      const Json& item = map->get_array()[i];
      const std::string mac = to_lower(text_of(item, {"mac_address"})), name = text_of(item, {"logical_nic_name"});
      const std::string field = fmt::format("mac_interface_map[{}]", i);
      if (!is_mac(mac)) wrong(field + ".mac_address", "'{}' is no MAC address", to_utf8(mac));
      if (!is_interface_name(name)) wrong(field + ".logical_nic_name", "'{}' is no name of an interface", to_utf8(name));
      if (!macs_.emplace(name, mac).second) wrong(field + ".logical_nic_name", "'{}' is in the map twice", to_utf8(name));
    }
  }

  void read_interface(const Json& value, const std::string& field) {
    check_members(value, field,
                  {"name", "type", "state", "mac-address", "mtu", "ipv4", "ipv6", "vlan", "link-aggregation", "description"});
    const std::string name = text_of(value, {"name"}), type = text_of(value, {"type"}), state = text_of(value, {"state"});
    if (!is_interface_name(name)) return wrong(field + ".name", "'{}' is no name of an interface", to_utf8(name));
    if (!state.empty() && state != "up") wrong(field + ".state", "'{}' is not supported (use up)", to_utf8(state));
    if (interfaces_.contains(name)) return wrong(field + ".name", "'{}' is used twice", name);
    Interface made{.type = type};
    if (type == "ethernet") {
      const auto mac = macs_.find(name);
      if (mac == macs_.end()) return wrong(field + ".name", "'{}' is not in mac_interface_map", name);
      made.mac = mac->second;
      const std::string own = to_lower(text_of(value, {"mac-address"}));
      if (!own.empty() && own != made.mac) wrong(field + ".mac-address", "differs from the one in mac_interface_map");
    } else if (type == "vlan") {
      read_vlan(value, field, name, made);
    } else if (type == "bond") {
      read_bond(value, field, name, made);
    } else {
      return wrong(field + ".type", "'{}' is not supported (use ethernet, vlan or bond)", to_utf8(type));
    }
    if (const Json* mtu = find(value, {"mtu"})) {
      const int bytes = integer_of(value, {"mtu"});
      if (!mtu->is_int64() || bytes < smallest_mtu || bytes > largest_mtu)
        wrong(field + ".mtu", "must be between {} and {}", smallest_mtu, largest_mtu);
      made.link.push_back(fmt::format("MTUBytes={}", bytes));
    }
    read_addresses(value, field, made);
    interfaces_.emplace(name, std::move(made));
    order_.push_back(name);
  }

  void read_vlan(const Json& value, const std::string& field, const std::string& name, Interface& made) {
    const std::string base = text_of(value, {"vlan", "base-iface"});
    const int id = integer_of(value, {"vlan", "id"});
    if (const Json* vlan = find(value, {"vlan"})) check_members(*vlan, field + ".vlan", {"base-iface", "id"});
    if (id < 1 || id > largest_vlan) wrong(field + ".vlan.id", "must be between 1 and {}", largest_vlan);
    made.netdev = fmt::format("[NetDev]\nName={}\nKind=vlan\n\n[VLAN]\nId={}\n", name, id);
    ports_.emplace_back(base, std::pair(fmt::format("VLAN={}", name), field + ".vlan.base-iface"));
  }

  void read_bond(const Json& value, const std::string& field, const std::string& name, Interface& made) {
    const std::string mode = text_of(value, {"link-aggregation", "mode"});
    if (const Json* bond = find(value, {"link-aggregation"}))
      check_members(*bond, field + ".link-aggregation", {"mode", "port", "slaves", "options"});
    if (std::ranges::find(bond_modes, mode) == bond_modes.end())
      wrong(field + ".link-aggregation.mode", "'{}' is not supported (use one of {})", to_utf8(mode),
            join(std::vector<std::string>(bond_modes.begin(), bond_modes.end()), ", "));
    made.netdev = fmt::format("[NetDev]\nName={}\nKind=bond\n\n[Bond]\nMode={}\n", name, mode);
    if (const Json* options = find(value, {"link-aggregation", "options"})) {
      check_members(*options, field + ".link-aggregation.options", {"miimon"});
      const int interval = integer_of(*options, {"miimon"});
      if (const std::string text = text_of(*options, {"miimon"}); interval < 1 && !text.empty())
        wrong(field + ".link-aggregation.options.miimon", "must be a number");
      if (interval > 0) made.netdev += fmt::format("MIIMonitorSec={}ms\n", interval);
    }
    std::vector<std::string> ports = texts_of(value, {"link-aggregation", "port"});
    for (std::string& each : texts_of(value, {"link-aggregation", "slaves"})) ports.push_back(std::move(each));
    if (ports.empty()) wrong(field + ".link-aggregation.port", "missing");
    for (const std::string& port : ports)
      ports_.emplace_back(port, std::pair(fmt::format("Bond={}", name), field + ".link-aggregation.port"));
  }

  // The interface is a part of another one.
  void link(const std::string& name, const std::string& line, const std::string& field) {
    const auto found = interfaces_.find(name);
    if (found != interfaces_.end()) {
      found->second.network.push_back(line);
    } else if (const auto mac = macs_.find(name); mac != macs_.end()) {
      interfaces_.emplace(name, Interface{.type = "ethernet", .mac = mac->second, .network = {"LinkLocalAddressing=no", line}});
      order_.push_back(name);
    } else {
      wrong(field, "'{}' is no interface of this host", to_utf8(name));
    }
  }

  void read_addresses(const Json& value, const std::string& field, Interface& made) {
    bool dhcp4 = false, dhcp6 = false;
    for (const std::string family : {"ipv4", "ipv6"}) {
      const Json* ip = find(value, {family});
      if (!ip) continue;
      const std::string place = fmt::format("{}.{}", field, family);
      check_members(*ip, place, {"enabled", "dhcp", "address", "autoconf"});
      if (!is_true(*ip, {"enabled"})) continue;
      (family == "ipv4" ? dhcp4 : dhcp6) = is_true(*ip, {"dhcp"});
      if (family == "ipv6") made.network.push_back(fmt::format("IPv6AcceptRA={}", is_true(*ip, {"autoconf"}) ? "yes" : "no"));
      const JsonArray& addresses = find_array(*ip, {"address"});
      for (std::size_t i = 0; i < addresses.size(); ++i) {
        const std::string cidr = fmt::format("{}/{}", text_of(addresses[i], {"ip"}), integer_of(addresses[i], {"prefix-length"}));
        const Result<net::Cidr> parsed = net::parse_cidr(cidr);
        if (!parsed.ok() || parsed->address.is_v4() != (family == "ipv4")) {
          wrong(fmt::format("{}.address[{}]", place, i), "'{}' is no {} address with its prefix length", to_utf8(cidr), family);
          continue;
        }
        made.network.push_back("Address=" + cidr);
      }
    }
    made.network.push_back(fmt::format("DHCP={}", dhcp4 && dhcp6 ? "yes" : dhcp4 ? "ipv4" : dhcp6 ? "ipv6" : "no"));
  }

  void read_route(const Json& value, const std::string& field) {
    check_members(value, field, {"destination", "next-hop-address", "next-hop-interface", "metric", "table-id", "state"});
    const std::string name = text_of(value, {"next-hop-interface"}), destination = text_of(value, {"destination"}),
                      gateway = text_of(value, {"next-hop-address"});
    const auto found = interfaces_.find(name);
    if (found == interfaces_.end())
      return wrong(field + ".next-hop-interface", "'{}' is no interface of this host", to_utf8(name));
    const Result<net::Cidr> network = net::parse_cidr(destination);
    if (!network.ok()) return wrong(field + ".destination", "'{}' is no network", to_utf8(destination));
    if (!gateway.empty() && !net::is_ip(gateway))
      return wrong(field + ".next-hop-address", "'{}' is no IP address", to_utf8(gateway));
    if (const std::string state = text_of(value, {"state"}); !state.empty() && state != "present")
      return wrong(field + ".state", "'{}' is not supported (use present)", to_utf8(state));
    std::string section = fmt::format("\n[Route]\nDestination={}\n", destination);
    if (!gateway.empty()) section += fmt::format("Gateway={}\n", gateway);
    if (const int metric = integer_of(value, {"metric"}); metric > 0) section += fmt::format("Metric={}\n", metric);
    if (const int table = integer_of(value, {"table-id"}); table > 0) section += fmt::format("Table={}\n", table);
    found->second.routes.push_back(section);
    if (network->prefix == 0) found->second.has_default_route = true;
  }

  // Name servers belong to the interfaces with a default route, else to the first one.
  void read_names(const Json& state) {
    std::string lines;
    for (const std::string& server : texts_of(state, {"dns-resolver", "config", "server"})) {
      if (!net::is_ip(server)) wrong("network_yaml.dns-resolver.config.server", "'{}' is no IP address", to_utf8(server));
      lines += fmt::format("DNS={}\n", server);
    }
    for (const std::string& domain : texts_of(state, {"dns-resolver", "config", "search"})) {
      const bool is_plain = std::ranges::all_of(domain, [](char c) { return c > ' ' && c < 127; });
      if (!is_plain || domain.empty()) wrong("network_yaml.dns-resolver.config.search", "'{}' is no domain", to_utf8(domain));
      lines += fmt::format("Domains={}\n", domain);
    }
    if (lines.empty() || order_.empty()) return;
    lines.pop_back();
    bool is_placed = false;
    for (auto& [name, interface] : interfaces_) {
      if (!interface.has_default_route) continue;
      interface.network.push_back(lines);
      is_placed = true;
    }
    if (!is_placed) interfaces_.at(order_.front()).network.push_back(lines);
  }

  HostNetwork files() const {
    HostNetwork host;
    for (const auto& [name, mac] : macs_) host.mac_addresses.push_back(mac);
    for (const auto& [name, interface] : interfaces_) {
      std::string text = interface.mac.empty() ? fmt::format("[Match]\nName={}\n", name)
                                               : fmt::format("[Match]\nType=ether\nPermanentMACAddress={}\n", interface.mac);
      if (!interface.link.empty()) text += fmt::format("\n[Link]\n{}\n", join(interface.link, "\n"));
      text += fmt::format("\n[Network]\n{}\n", join(interface.network, "\n"));
      for (const std::string& route : interface.routes) text += route;
      host.files[fmt::format("10-slipway-{}.network", name)] = text;
      if (!interface.netdev.empty()) host.files[fmt::format("10-slipway-{}.netdev", name)] = interface.netdev;
    }
    return host;
  }

  Findings& findings_;
  const std::string place_;
  bool is_fine_ = true;
  std::map<std::string, std::string> macs_;  // by logical name
  std::map<std::string, Interface> interfaces_;
  std::vector<std::string> order_;
  std::vector<std::pair<std::string, std::pair<std::string, std::string>>> ports_;  // interface, line, field
};

}  // namespace

Result<std::vector<HostNetwork>> parse_static_networks(const Json& list) {
  if (!list.is_array()) return error(Code::invalid, "must be a list, is {}", kind_name(list));
  Findings findings;
  std::vector<HostNetwork> networks;
  std::set<std::string> known;
  for (std::size_t i = 0; i < list.get_array().size(); ++i) {
    const std::string place = fmt::format("[{}]", i);
    std::optional<HostNetwork> host = Reader(findings, place).read(list.get_array()[i]);
    if (!host) continue;
    for (const std::string& mac : host->mac_addresses) {
      if (!known.insert(mac).second) findings.error({}, place + ".mac_interface_map", "{} is in another map, too", mac);
    }
    networks.push_back(std::move(*host));
  }
  TRY(findings.to_result());
  return networks;
}

void add_static_networks(ignition::Config& config, const std::vector<HostNetwork>& networks) {
  if (networks.empty()) return;
  const std::string folder = "/etc/slipway-network/";
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const std::string host = fmt::format("{}{}/", folder, i);
    ignition::put(config, ignition::make_file(host + "mac-addresses", join(networks[i].mac_addresses, "\n") + "\n", 0644));
    for (const auto& [name, content] : networks[i].files) ignition::put(config, ignition::make_file(host + name, content, 0644));
  }
  ignition::put(config, ignition::make_file(folder + "choose", data::content(data::assist(), "choose-network"), 0755));
  ignition::put(config, ignition::make_unit("slipway-static-network.service",
                                            std::string(data::content(data::assist(), "slipway-static-network.service")), true));
}

void add_static_network(ignition::Config& config, const std::vector<HostNetwork>& networks,
                        const std::vector<std::string>& mac_addresses) {
  for (const HostNetwork& network : networks) {
    const bool is_own = std::ranges::any_of(network.mac_addresses, [&](const std::string& mac) {
      return std::ranges::find(mac_addresses, mac) != mac_addresses.end();
    });
    if (!is_own) continue;
    for (const auto& [name, content] : network.files)
      ignition::put(config, ignition::make_file("/etc/systemd/network/" + name, content, 0644));
    return;
  }
}

}  // namespace slipway::service
