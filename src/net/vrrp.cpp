#include "net/vrrp.h"

#include "net/packets.h"
#include "sys/fd.h"

#include <netinet/in.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cerrno>

namespace slipway::net {

namespace {

constexpr int protocol = 112;
constexpr char advertisement = 0x31;  // version 3, type 1
constexpr char farewell_priority = 0;
constexpr unsigned interval = 50;  // in hundredths of a second
constexpr std::size_t checksum_at = 6;
// Receivers ignore packets that a router has forwarded.
constexpr int hops = 255;

IpAddress group_of(bool is_v4) { return parse_ip(is_v4 ? "224.0.0.18" : "ff02::12").value(); }

}  // namespace

std::string vrrp_farewell(const VrrpFarewell& farewell) {
  const bool is_v4 = farewell.address.is_v4();
  std::string message{advertisement, static_cast<char>(farewell.router_id), farewell_priority, 1};  // one address
  put16(message, interval);
  put16(message, 0);
  message += bytes_of(farewell.address);
  if (!is_v4) return message;
  const IpAddress group = group_of(is_v4);
  std::string header(bytes_of(farewell.own));
  header += bytes_of(group);
  put16(header, protocol);
  put16(header, static_cast<unsigned>(message.size()));
  std::string checksum;
  put16(checksum, internet_checksum(header + message));
  return message.replace(checksum_at, checksum.size(), checksum);
}

Result<> send_vrrp_farewell(const VrrpFarewell& farewell) {
  const bool is_v4 = farewell.address.is_v4();
  const sys::Fd socket(::socket(is_v4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!socket.is_open()) return sys::system_error("opening a raw socket");
  const int index = static_cast<int>(::if_nametoindex(farewell.interface.c_str()));
  if (index == 0) return error(Code::not_found, "{}: no such network interface", farewell.interface);
  const SocketAddress own = socket_address(farewell.own), group = socket_address(group_of(is_v4));
  if (is_v4) {
    // The interface is that of the own address, which is also the source.
    if (::bind(socket.get(), own.get(), own.size) != 0) return sys::system_error("using " + to_string(farewell.own));
    ip_mreqn target{};
    target.imr_ifindex = index;
    if (::setsockopt(socket.get(), IPPROTO_IP, IP_MULTICAST_IF, &target, sizeof target) != 0) {
      return sys::system_error("using " + farewell.interface);
    }
    TRY(set_socket_option(socket, IPPROTO_IP, IP_MULTICAST_TTL, hops));
    TRY(set_socket_option(socket, IPPROTO_IP, IP_MULTICAST_LOOP, 0));
  } else {
    TRY(set_socket_option(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, index));
    TRY(set_socket_option(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, hops));
    TRY(set_socket_option(socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0));
    TRY(set_socket_option(socket, IPPROTO_IPV6, IPV6_CHECKSUM, static_cast<int>(checksum_at)));
  }
  const std::string message = vrrp_farewell(farewell);
  if (::sendto(socket.get(), message.data(), message.size(), 0, group.get(), group.size) < 0) {
    return sys::system_error("sending to " + to_string(group_of(is_v4)));
  }
  return Ok{};
}

}  // namespace slipway::net
