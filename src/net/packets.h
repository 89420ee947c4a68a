// Helpers for files of this folder that read and write packets. Private to the folder.
#pragma once

#include "net/ip.h"
#include "sys/context.h"
#include "sys/fd.h"

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace slipway::net {

// Appends a number in network byte order.
void put16(std::string& bytes, unsigned number);
unsigned read16(std::string_view bytes, std::size_t at);

std::string_view bytes_of(const IpAddress& address);  // 4 or 16 bytes, as in packets; valid as long as the address

// The checksum of IP, ICMP and UDP (RFC 1071) of bytes; 0 over bytes that contain their correct checksum.
unsigned internet_checksum(std::string_view bytes);

// An address as in calls of sockets, with port 0.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
SocketAddress socket_address(const IpAddress& address);

// errors: those of the system
Result<> set_socket_option(const sys::Fd& socket, int level, int name, int value);

// Passes packets that arrive on the socket until the time, or until `take` returns false.
// errors: cancelled; those of the system
Result<> receive_until(const sys::Context& context, const sys::Fd& socket, SteadyTime until,
                       const std::function<bool(std::string_view packet)>& take);

}  // namespace slipway::net
