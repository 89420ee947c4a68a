#include "agent/addresses.h"

#include "agent/links.h"
#include "agent/networks.h"
#include "base/text.h"
#include "net/interfaces.h"
#include "net/neighbors.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::agent {

namespace {

constexpr std::size_t part_size = 1022;
constexpr std::size_t most_scanned = 16384;  // addresses of one network
constexpr int attempts = 2;

bool is_own(const std::vector<assist::Interface>& interfaces, const net::IpAddress& address) {
  for (const assist::Interface& interface : interfaces) {
    for (const net::Cidr& own : interface.addresses) {
      if (own.address == address) return true;
    }
  }
  return false;
}

Result<JsonArray> free_addresses(const sys::Context& context, const std::vector<assist::Interface>& interfaces,
                                 const assist::Interface& interface, const net::Cidr& network) {
  JsonArray free;
  for (const std::vector<net::IpAddress>& part : scan_parts(network, most_scanned)) {
    net::NeighborQuestions questions = TRY(questions_for(interface, part));
    questions.attempts = attempts;
    const net::MacsByAddress taken = TRY(net::ask_neighbors(context, questions));
    for (const net::IpAddress& address : part) {
      if (!taken.contains(address) && !is_own(interfaces, address)) free.emplace_back(net::to_string(address));
      if (free.size() == most_free_addresses) return free;
    }
  }
  return free;
}

}  // namespace

std::vector<std::vector<net::IpAddress>> scan_parts(const net::Cidr& network, std::size_t most_addresses) {
  const int host_bits = network.bits() - network.prefix;
  const std::uint64_t count = std::uint64_t{1} << std::min(host_bits, 32);
  const std::uint64_t first = count > 2 ? 1 : 0, last = count > 2 ? count - 2 : count - 1;
  std::vector<std::vector<net::IpAddress>> parts;
  for (std::uint64_t i = first; i <= last && i - first < most_addresses; ++i) {
    const Result<net::IpAddress> address = network.host(i);
    if (!address.ok()) break;
    if (parts.empty() || parts.back().size() == part_size) parts.emplace_back();
    parts.back().push_back(address.value());
  }
  return parts;
}

Result<StepReply> find_free_addresses(const StepWorld& world, const Json& arguments) {
  if (!arguments.is_array()) return error(Code::invalid, "networks: must be a list, is {}", kind_name(arguments));
  const std::vector<assist::Interface> interfaces = read_interfaces(world.tree, TRY(net::interface_addresses()));
  JsonArray found;
  std::vector<std::string> problems;
  for (const Json& item : arguments.get_array()) {
    const std::string text = item.is_string() ? std::string(item.get_string()) : "";
    const net::Cidr network = TRY(net::parse_cidr(text).context("networks"));
    const assist::Interface* interface = interface_to(interfaces, network.network());
    if (!network.is_v4()) {
      problems.push_back(text + ": IPv6 networks cannot be scanned for free addresses");
    } else if (!interface) {
      problems.push_back(text + ": no interface of this host is in the network");
    } else {
      JsonArray free = TRY(free_addresses(world.environment.context, interfaces, *interface, network));
      found.push_back({{"network", text}, {"free_addresses", std::move(free)}});
    }
  }
  StepReply reply = json_reply(found);
  reply.error = join(problems, "; ");
  if (found.empty() && !problems.empty()) reply.exit_code = 1;
  return reply;
}

Result<StepReply> verify_virtual_addresses(const StepWorld& world, const Json& arguments) {
  if (!arguments.is_array()) return error(Code::invalid, "vips: must be a list, is {}", kind_name(arguments));
  const std::vector<assist::Interface> interfaces = read_interfaces(world.tree, TRY(net::interface_addresses()));
  std::map<std::string, std::vector<net::IpAddress>> targets;  // by interface
  for (const Json& item : arguments.get_array()) {
    const net::IpAddress address = TRY(net::parse_ip(text_of(item, {"vip"})).context("vips"));
    if (const assist::Interface* interface = interface_to(interfaces, address)) targets[interface->name].push_back(address);
  }
  const LinkAnswers answers = TRY(ask_links(world.environment.context, interfaces, targets));
  JsonArray verified;
  for (const Json& item : arguments.get_array()) {
    const net::IpAddress address = TRY(net::parse_ip(text_of(item, {"vip"})));
    const assist::Interface* interface = interface_to(interfaces, address);
    const bool is_taken = interface && (is_own(interfaces, address) || !answers.macs_of(interface->name, address).empty());
    verified.push_back({{"vip", text_of(item, {"vip"})},
                        {"vip_type", text_of(item, {"vip_type"})},
                        {"verification", !interface ? "unverified"
                                         : is_taken ? "failed"
                                                    : "succeeded"}});
  }
  return json_reply(verified);
}

}  // namespace slipway::agent
