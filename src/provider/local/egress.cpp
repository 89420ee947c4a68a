#include "provider/local/egress.h"

#include "base/number.h"
#include "base/text.h"
#include "provider/local/owner_descriptors.h"
#include "sys/fd.h"

#include <fcntl.h>

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace slipway::provider::local {

namespace {

constexpr std::string_view interface = "egress0";
// /24 networks of 100.64.0.0/10, which is for carriers: the internet does not have it, and few companies use it.
constexpr unsigned first_network = 100u << 24 | 64u << 16;
constexpr unsigned number_of_networks = 1u << 14;

// Hexadecimal, in the byte order of the network, as a little-endian machine prints it.
std::optional<unsigned> address_of(std::string_view text) {
  const auto number = parse_number<std::uint32_t>(text, 16);
  return number ? std::optional(__builtin_bswap32(*number)) : std::nullopt;
}

}  // namespace

Result<std::string> free_egress_network(const std::vector<net::Cidr>& taken) {
  for (unsigned i = 0; i < number_of_networks; ++i) {
    const std::string candidate = dotted(first_network + (i << 8)) + "/24";
    const net::Cidr network = TRY(net::parse_cidr(candidate));
    if (std::ranges::none_of(taken, [&](const net::Cidr& each) { return each.overlaps(network); })) return candidate;
  }
  return error(Code::conflict, "platform.local.egress: no network of 100.64.0.0/10 is free (set egress to false)");
}

std::vector<net::Cidr> networks_of_routes(std::string_view routes) {
  std::vector<net::Cidr> networks;
  for (const std::string_view line : split(routes, '\n')) {
    // Iface Destination Gateway Flags RefCnt Use Metric Mask ...
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() < 8) continue;
    const auto destination = address_of(trim(fields[1])), mask = address_of(trim(fields[7]));
    if (!destination || !mask || *mask == 0) continue;
    const auto network = net::parse_cidr(fmt::format("{}/{}", dotted(*destination & *mask), __builtin_popcount(*mask)));
    if (network.ok()) networks.push_back(network.value());
  }
  return networks;
}

std::string egress_name_server(const std::string& network) { return network.substr(0, network.rfind('.') + 1) + "3"; }

std::vector<std::string> egress_command(const std::string& network, int owner) {
  std::vector<std::string> command = {"nsenter"};
  std::ranges::move(options_for_host(), std::back_inserter(command));
  command.insert(command.end(), {"--", "slirp4netns", "--configure", "--mtu=1500", "--disable-host-loopback", "--enable-sandbox",
                                 "--enable-seccomp", "--cidr=" + network, "--netns-type=path",
                                 fmt::format("/proc/{}/ns/net", owner), std::string(interface)});
  return command;
}

Result<> open_egress(const sys::Context& context, sys::Runner& runner, const AddressPlan& plan, const std::string& network) {
  TRY(sys::run_checked(runner, context, {.argv = {"nft", "-f", "-"}, .input = egress_rules(plan, network)})
          .context("rules of the way out of the cluster"));
  const std::string setting = "/proc/sys/net/ipv4/ip_forward";  // of this namespace
  const sys::Fd file(::open(setting.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return sys::system_error("opening " + setting);
  return sys::write_all(file, "1", setting);
}

// The metadata services of clouds: most are link-local; then those of Alibaba, Azure and Oracle.
std::string egress_rules(const AddressPlan& plan, const std::string& network) {
  return fmt::format(R"(table ip slipway {{
  chain forward {{
    type filter hook forward priority filter; policy accept;
    oifname "{0}" ip daddr {{ {1}, 127.0.0.0/8, 169.254.0.0/16, 100.100.100.200, 168.63.129.16, 192.0.0.192 }} drop
  }}
  chain postrouting {{
    type nat hook postrouting priority srcnat; policy accept;
    oifname "{0}" ip saddr {2} masquerade
  }}
}}
)",
                     interface, network, plan.to_cidr());
}

}  // namespace slipway::provider::local
