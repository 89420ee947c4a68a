#include "config/names.h"
#include "config/rules/platform_rules.h"

namespace slipway::config {

// The host of the URI is checked when machines are created.
void validate_libvirt(const Section& platform) {
  if (const std::string_view uri = platform.text("URI"); !uri.empty() && !is_uri(uri)) {
    platform.error_at("URI", "'{}' is not a libvirt URI", uri)
        .hint("for example qemu:///system or qemu+tcp://192.168.122.1/system");
  }
  const Section network = platform.at("network");
  constexpr std::size_t longest_interface_name = 15;  // the limit of Linux
  if (const std::string_view name = network.text("if"); name.size() > longest_interface_name) {
    network.error_at("if", "'{}' has {} characters, must have at most {}", name, name.size(), longest_interface_name);
  }
}

}  // namespace slipway::config
