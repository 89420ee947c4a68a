#include "provider/libvirt/xml.h"

#include "base/number.h"

#include <pugixml.hpp>

namespace slipway::provider::libvirt {

namespace {

Result<pugi::xml_node> root_of(pugi::xml_document& document, std::string_view xml, const char* root) {
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size());
  if (!parsed) return error(Code::invalid, "libvirt's XML of a {}: {} at byte {}", root, parsed.description(), parsed.offset);
  if (const pugi::xml_node found = document.child(root)) return found;
  return error(Code::invalid, "libvirt's XML of a {}: has no element {}", root, root);
}

std::optional<MachineMark> read_mark(const pugi::xml_node& domain) {
  // pugixml does not resolve namespaces; libvirt keeps the prefix that it was given.
  const pugi::xml_node mark = domain.child("metadata").child("slipway:machine");
  if (!mark) return std::nullopt;
  const auto text = [&](const char* name) { return std::string(mark.attribute(name).value()); };
  return MachineMark{.cluster = text("cluster"),
                     .machine = text("name"),
                     .role = text("role"),
                     .after = text("after"),
                     .release = text("release"),
                     .release_version = text("version")};
}

// The length of a prefix, from `prefix` or from `netmask`.
int prefix_of(const pugi::xml_node& ip) {
  if (const pugi::xml_attribute prefix = ip.attribute("prefix")) return prefix.as_int();
  const Result<net::IpAddress> mask = net::parse_ip(ip.attribute("netmask").value());
  if (!mask.ok()) return 0;
  int bits = 0;
  for (const std::uint8_t byte : mask->bytes()) bits += __builtin_popcount(byte);
  return bits;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&apos;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

Result<DomainFacts> read_domain(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_node domain = TRY(root_of(document, xml, "domain"));
  DomainFacts facts{.virtualization = domain.attribute("type").value(), .mark = read_mark(domain)};
  const auto add_file = [&](const char* path) {
    if (*path != '\0') facts.files.emplace_back(path);
  };
  for (const pugi::xml_node& system : domain.children("sysinfo")) {
    for (const pugi::xml_node& entry : system.children("entry")) add_file(entry.attribute("file").value());
  }
  const pugi::xml_node devices = domain.child("devices");
  for (const pugi::xml_node& disk : devices.children("disk")) add_file(disk.child("source").attribute("file").value());
  for (const pugi::xml_node& each : devices.children("interface")) {
    facts.interfaces.push_back(
        {.mac = each.child("mac").attribute("address").value(), .network = each.child("source").attribute("network").value()});
  }
  return facts;
}

Result<NetworkFacts> read_network(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_node network = TRY(root_of(document, xml, "network"));
  NetworkFacts facts{.bridge = network.child("bridge").attribute("name").value()};
  for (const pugi::xml_node& ip : network.children("ip")) {
    const Result<net::IpAddress> address = net::parse_ip(ip.attribute("address").value());
    if (address.ok()) facts.addresses.push_back({address.value(), prefix_of(ip)});
  }
  return facts;
}

Result<PoolFacts> read_pool(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_node pool = TRY(root_of(document, xml, "pool"));
  return PoolFacts{.type = pool.attribute("type").value(), .path = pool.child("target").child_value("path")};
}

Result<VolumeFacts> read_volume(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_node volume = TRY(root_of(document, xml, "volume"));
  return VolumeFacts{.backing_path = volume.child("backingStore").child_value("path")};
}

}  // namespace slipway::provider::libvirt
