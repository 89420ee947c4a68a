#include "net/echo.h"

#include "net/packets.h"
#include "sys/fd.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <vector>

namespace slipway::net {

namespace {

constexpr char request_v4 = 8, reply_v4 = 0, request_v6 = static_cast<char>(128), reply_v6 = static_cast<char>(129);
constexpr std::size_t header = 8;

// Sockets get the answers to all pings of this machine, so each call has its own number.
unsigned next_identifier() {
  static std::atomic<unsigned> next = static_cast<unsigned>(::getpid()) * 31u;
  return ++next & 0xffff;
}

Result<sys::Fd> open_socket(const EchoRequest& request) {
  const bool is_v4 = request.target.is_v4();
  sys::Fd socket(::socket(is_v4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC, is_v4 ? int{IPPROTO_ICMP} : int{IPPROTO_ICMPV6}));
  if (!socket.is_open()) return sys::system_error("opening a raw socket");
  if (!request.interface.empty() && ::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, request.interface.data(),
                                                 static_cast<socklen_t>(request.interface.size())) != 0) {
    if (errno == ENODEV) return error(Code::not_found, "{}: no such network interface", request.interface);
    return sys::system_error("using " + request.interface);
  }
  if (request.dont_fragment) {
    // PROBE also ignores what the kernel has learned about the path.
    TRY(is_v4 ? set_socket_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
              : set_socket_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE));
    if (!is_v4) TRY(set_socket_option(socket, IPPROTO_IPV6, IPV6_DONTFRAG, 1));
  }
  return socket;
}

std::string packet_of(bool is_v4, unsigned identifier, unsigned sequence, std::size_t payload) {
  std::string packet{is_v4 ? request_v4 : request_v6, '\0', '\0', '\0'};
  put16(packet, identifier);
  put16(packet, sequence);
  packet.append(payload, 's');
  if (!is_v4) return packet;  // the kernel knows the source address, which the checksum of IPv6 includes
  std::string checksum;
  put16(checksum, internet_checksum(packet));
  packet.replace(2, 2, checksum);
  return packet;
}

// The sequence number of the answer in a packet; -1 for every other packet. A raw socket of IPv4 receives the IP header.
int sequence_of(std::string_view packet, bool is_v4, unsigned identifier) {
  if (is_v4) {
    if (packet.empty()) return -1;
    const std::size_t size = static_cast<std::size_t>(packet[0] & 15) * 4;
    if (packet.size() < size) return -1;
    packet.remove_prefix(size);
  }
  if (packet.size() < header || packet[0] != (is_v4 ? reply_v4 : reply_v6) || read16(packet, 4) != identifier) return -1;
  return static_cast<int>(read16(packet, 6));
}

}  // namespace

Result<EchoResult> echo(const sys::Context& context, const EchoRequest& request) {
  const sys::Fd socket = TRY(open_socket(request));
  const bool is_v4 = request.target.is_v4();
  const SocketAddress address = socket_address(request.target);
  const unsigned identifier = next_identifier();
  // In microseconds, which the clock of the context does not have.
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::time_point> sent(static_cast<std::size_t>(request.count));
  std::vector<bool> is_answered(sent.size());
  EchoResult result;
  double total_ms = 0;
  const auto take = [&](std::string_view packet) {
    const int sequence = sequence_of(packet, is_v4, identifier);
    if (sequence < 0 || sequence >= result.sent || is_answered[static_cast<std::size_t>(sequence)]) return true;
    is_answered[static_cast<std::size_t>(sequence)] = true;
    total_ms += std::chrono::duration<double, std::milli>(Clock::now() - sent[static_cast<std::size_t>(sequence)]).count();
    return ++result.received < request.count;
  };
  for (int i = 0; i < request.count; ++i) {
    const std::string packet = packet_of(is_v4, identifier, static_cast<unsigned>(i), request.payload);
    sent[static_cast<std::size_t>(i)] = Clock::now();
    ++result.sent;
    // Not sent is not answered: no route, larger than the interface allows.
    (void)::sendto(socket.get(), packet.data(), packet.size(), 0, address.get(), address.size);
    TRY(receive_until(context, socket, context.clock.steady() + (i + 1 < request.count ? request.interval : request.wait), take));
  }
  if (result.received > 0) result.average_ms = total_ms / result.received;
  return result;
}

}  // namespace slipway::net
