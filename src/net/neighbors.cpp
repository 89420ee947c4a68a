#include "net/neighbors.h"

#include "base/number.h"
#include "base/text.h"
#include "net/packets.h"
#include "sys/fd.h"
#include "sys/wait_for.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace slipway::net {

namespace {

constexpr unsigned arp_type = 0x0806, v6_type = 0x86dd;
constexpr std::size_t ethernet_header = 14, arp_size = 28, v6_header = 40, advertisement_size = 24;
constexpr unsigned reply = 2;  // operation of ARP
constexpr char icmp_v6 = 58, solicitation = static_cast<char>(135), advertisement = static_cast<char>(136);
constexpr char source_option = 1, target_option = 2;  // options of neighbor discovery, in units of 8 bytes

std::string_view bytes_of(const MacAddress& mac) { return {reinterpret_cast<const char*>(mac.data()), mac.size()}; }

MacAddress mac_at(std::string_view bytes, std::size_t at) {
  MacAddress mac;
  std::memcpy(mac.data(), bytes.data() + at, mac.size());
  return mac;
}

std::string ethernet(std::string_view to, const MacAddress& from, unsigned type) {
  std::string frame(to);
  frame += bytes_of(from);
  put16(frame, type);
  return frame;
}

std::string arp_question(const MacAddress& mac, const std::optional<IpAddress>& own, const IpAddress& target) {
  std::string frame = ethernet(std::string(6, '\xff'), mac, arp_type);
  put16(frame, 1);  // Ethernet
  put16(frame, 0x0800);
  frame += std::string("\x06\x04\x00\x01", 4);  // sizes of both addresses, request
  frame += bytes_of(mac);
  frame += own ? std::string(bytes_of(*own)) : std::string(4, '\0');
  frame += std::string(6, '\0');
  frame += bytes_of(target);
  return frame;
}

std::string solicitation_of(const MacAddress& mac, const std::optional<IpAddress>& own, const IpAddress& target) {
  const std::string_view last = bytes_of(target).substr(13);
  const std::string source = own ? std::string(bytes_of(*own)) : std::string(16, '\0');
  // The multicast address of all machines whose address ends with the same three bytes.
  const std::string group = std::string("\xff\x02\0\0\0\0\0\0\0\0\0\1\xff", 13) + std::string(last);
  std::string message{solicitation, '\0', '\0', '\0', '\0', '\0', '\0', '\0'};
  message += bytes_of(target);
  if (own) message += std::string{source_option, 1} + std::string(bytes_of(mac));
  std::string pseudo_header = source + group;
  put16(pseudo_header, 0);
  put16(pseudo_header, static_cast<unsigned>(message.size()));
  pseudo_header += std::string{'\0', '\0', '\0', icmp_v6};
  std::string checksum;
  put16(checksum, internet_checksum(pseudo_header + message));
  message.replace(2, 2, checksum);

  std::string frame = ethernet(std::string("\x33\x33\xff", 3) + std::string(last), mac, v6_type);
  frame += std::string("\x60\0\0\0", 4);
  put16(frame, static_cast<unsigned>(message.size()));
  frame += std::string{icmp_v6, '\xff'};  // hop limit 255: nobody outside of the link can send it
  return frame + source + group + message;
}

std::optional<NeighborAnswer> parse_arp(std::string_view body) {
  if (body.size() < arp_size || read16(body, 0) != 1 || read16(body, 2) != 0x0800 || read16(body, 6) != reply)
    return std::nullopt;
  Result<IpAddress> address = ip_of_bytes(body.substr(14, 4));
  if (!address.ok()) return std::nullopt;
  return NeighborAnswer{std::move(address).value(), mac_at(body, 8)};
}

std::optional<NeighborAnswer> parse_advertisement(std::string_view frame) {
  const std::string_view packet = frame.substr(ethernet_header);
  if (packet.size() < v6_header + advertisement_size || packet[6] != icmp_v6) return std::nullopt;
  const std::string_view message = packet.substr(v6_header);
  if (message[0] != advertisement) return std::nullopt;
  Result<IpAddress> address = ip_of_bytes(message.substr(8, 16));
  if (!address.ok()) return std::nullopt;
  const bool has_option = message.size() >= advertisement_size + 8 && message[advertisement_size] == target_option;
  return NeighborAnswer{std::move(address).value(), has_option ? mac_at(message, advertisement_size + 2) : mac_at(frame, 6)};
}

Result<sys::Fd> open_socket(const std::string& interface, unsigned type) {
  sys::Fd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(static_cast<std::uint16_t>(type))));
  if (!socket.is_open()) return sys::system_error("opening a packet socket");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(static_cast<std::uint16_t>(type));
  address.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  if (address.sll_ifindex == 0) return error(Code::not_found, "{}: no such network interface", interface);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return sys::system_error("listening on " + interface);
  }
  return socket;
}

// Asks for the addresses of one family.
Result<> ask(const sys::Context& context, const NeighborQuestions& questions, bool is_v4, MacsByAddress& found) {
  constexpr std::size_t burst = 100;
  constexpr Milliseconds between_bursts{10};
  std::vector<IpAddress> targets;
  std::copy_if(questions.targets.begin(), questions.targets.end(), std::back_inserter(targets),
               [&](const IpAddress& each) { return each.is_v4() == is_v4; });
  if (targets.empty()) return Ok{};
  const sys::Fd socket = TRY(open_socket(questions.interface, is_v4 ? arp_type : v6_type));
  const auto take = [&](std::string_view frame) {
    const std::optional<NeighborAnswer> answer = parse_neighbor_answer(frame);
    if (answer && answer->mac != questions.mac && std::find(targets.begin(), targets.end(), answer->address) != targets.end()) {
      found[answer->address].insert(to_string(answer->mac));
    }
    return true;
  };
  for (int attempt = 0; attempt < questions.attempts; ++attempt) {
    std::size_t sent = 0;
    for (const IpAddress& target : targets) {
      const std::string frame = neighbor_question(questions.mac, is_v4 ? questions.own_v4 : questions.own_v6, target);
      if (::send(socket.get(), frame.data(), frame.size(), 0) < 0 && errno != ENOBUFS) {
        const Error why = sys::system_error("sending on " + questions.interface);
        return Error(errno == ENETDOWN ? Code::unavailable : why.code(), why.message());
      }
      // The queue of the interface and the socket's buffer for answers are finite.
      if (++sent % burst == 0) TRY(receive_until(context, socket, context.clock.steady() + between_bursts, take));
    }
    TRY(receive_until(context, socket, context.clock.steady() + questions.interval, take));
  }
  return Ok{};
}

}  // namespace

Result<MacAddress> parse_mac(std::string_view text) {
  MacAddress mac{};
  const std::vector<std::string_view> parts = split(text, ':');
  for (std::size_t i = 0; i < mac.size(); ++i) {
    const auto byte =
        parts.size() == mac.size() && parts[i].size() == 2 ? parse_number<std::uint8_t>(parts[i], 16) : std::nullopt;
    if (!byte) return error(Code::invalid, "'{}' is not a MAC address", to_utf8(text));
    mac[i] = *byte;
  }
  return mac;
}

std::string to_string(const MacAddress& mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

std::string neighbor_question(const MacAddress& mac, const std::optional<IpAddress>& own, const IpAddress& target) {
  return target.is_v4() ? arp_question(mac, own, target) : solicitation_of(mac, own, target);
}

std::optional<NeighborAnswer> parse_neighbor_answer(std::string_view frame) {
  if (frame.size() < ethernet_header) return std::nullopt;
  const unsigned type = read16(frame, 12);
  if (type == arp_type) return parse_arp(frame.substr(ethernet_header));
  return type == v6_type ? parse_advertisement(frame) : std::nullopt;
}

Result<MacsByAddress> ask_neighbors(const sys::Context& context, const NeighborQuestions& questions) {
  MacsByAddress found;
  TRY(ask(context, questions, true, found));
  TRY(ask(context, questions, false, found));
  return found;
}

}  // namespace slipway::net
