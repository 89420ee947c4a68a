#include "config/names.h"
#include "config/platform_rules.h"

namespace slipway::config {

// installer 2.5; what the host of the URI has is looked at when machines are made.
void validate_libvirt(const Section& platform) {
  if (const std::string_view uri = platform.text("URI"); !uri.empty() && !is_uri(uri)) {
    platform.error_at("URI", "'{}' is no URI of libvirt", uri).hint("as in qemu:///system or qemu+tcp://192.168.122.1/system");
  }
  const Section network = platform.at("network");
  constexpr std::size_t longest_interface_name = 15;  // of Linux
  if (const std::string_view name = network.text("if"); name.size() > longest_interface_name) {
    network.error_at("if", "'{}' has {} characters, {} at most", name, name.size(), longest_interface_name);
  }
}

}  // namespace slipway::config
