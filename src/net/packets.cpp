#include "net/packets.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace slipway::net {

void put16(std::string& bytes, unsigned number) {
  bytes += static_cast<char>(number >> 8 & 255);
  bytes += static_cast<char>(number & 255);
}

unsigned read16(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned>(static_cast<unsigned char>(bytes[at])) << 8 | static_cast<unsigned char>(bytes[at + 1]);
}

std::string_view bytes_of(const IpAddress& address) {
  return {reinterpret_cast<const char*>(address.bytes().data()), address.is_v4() ? std::size_t{4} : std::size_t{16}};
}

unsigned internet_checksum(std::string_view bytes) {
  unsigned long sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += read16(bytes, i);
  if (bytes.size() % 2 == 1) sum += static_cast<unsigned long>(static_cast<unsigned char>(bytes.back())) << 8;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<unsigned>(~sum & 0xffff);
}

SocketAddress socket_address(const IpAddress& target) {
  SocketAddress address;
  const std::string_view bytes = bytes_of(target);
  if (target.is_v4()) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    v4->sin_family = AF_INET;
    std::memcpy(&v4->sin_addr, bytes.data(), bytes.size());
    address.size = sizeof *v4;
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    v6->sin6_family = AF_INET6;
    std::memcpy(&v6->sin6_addr, bytes.data(), bytes.size());
    address.size = sizeof *v6;
  }
  return address;
}

Result<> set_socket_option(const sys::Fd& socket, int level, int name, int value) {
  if (::setsockopt(socket.get(), level, name, &value, sizeof value) == 0) return Ok{};
  return sys::system_error("setting an option of a socket");
}

Result<> receive_until(const sys::Context& context, const sys::Fd& socket, SteadyTime until,
                       const std::function<bool(std::string_view packet)>& take) {
  // A stop request is noticed at the end of a wait.
  constexpr Milliseconds longest_wait{100};
  std::array<char, 65536> buffer;
  for (;;) {
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped while waiting for packets");
    const Milliseconds left = until - context.clock.steady();
    if (left <= Milliseconds(0)) return Ok{};
    pollfd ready{.fd = socket.get(), .events = POLLIN, .revents = 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::min(left, longest_wait).count()));
    if (count < 0 && errno != EINTR) return sys::system_error("waiting for packets");
    if (count <= 0) continue;
    const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    // Errors of the socket are news about a packet that was sent, such as "no route to host": it then has no answer.
    if (size < 0) continue;
    if (!take({buffer.data(), static_cast<std::size_t>(size)})) return Ok{};
  }
}

}  // namespace slipway::net
