#include "config/names.h"
#include "config/rules/platform_rules.h"

namespace slipway::config {

namespace {

constexpr std::size_t longest_interface_name = 15;  // the limit of Linux

void validate_network(const Section& network) {
  for (const std::string_view field : {"if", "bridge"}) {
    const std::string_view name = network.text(field);
    if (name.size() > longest_interface_name) {
      network.error_at(field, "'{}' has {} characters, must have at most {}", name, name.size(), longest_interface_name);
    }
  }
  for (const Section& option : network.items("dnsmasqOptions")) option.need("name", "for example address");
  if (network.has("bridge") && network.has("dnsmasqOptions")) {
    network.error_at("dnsmasqOptions", "has no effect with a bridge of the host").hint("remove one of the two");
  }
}

}  // namespace

// The host of the URI is checked when machines are created.
void validate_libvirt(const Section& platform) {
  if (const std::string_view uri = platform.text("URI"); !uri.empty() && !is_uri(uri)) {
    platform.error_at("URI", "'{}' is not a libvirt URI", uri)
        .hint("for example qemu:///system or qemu+tcp://192.168.122.1/system");
  } else if (uri.find("+ext:") != std::string_view::npos || uri.find("command=") != std::string_view::npos) {
    // libvirt would run the command on this host, as the user of slipway.
    platform.error_at("URI", "'{}' runs a command on this host", uri).hint("connect with ssh or tls");
  }
  validate_network(platform.at("network"));
  validate_virtual_addresses(platform, {.are_needed = false});
}

void validate_libvirt_pool(const Section& pool, const Section&, bool) {
  struct Least {
    std::string_view field;
    int number;
    std::string_view reason;
  };
  // A kubelet with the pods of the control plane does not start with less.
  constexpr Least rows[] = {{"cpus", 1, "a processor"},
                            {"memoryMiB", 2048, "the machine OS and a kubelet need 2 GiB"},
                            {"diskGiB", 10, "the machine OS and its images need 10 GiB"}};
  for (const Least& row : rows) {
    const auto number = pool.number(row.field);
    if (number && *number < row.number) {
      pool.error_at(row.field, "must be at least {}, got {}", row.number, *number).hint(std::string(row.reason));
    }
  }
}

}  // namespace slipway::config
