#include "net/interfaces.h"

#include "sys/fd.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <memory>

namespace slipway::net {

namespace {

// The number of ones of a network mask.
int prefix_of(const sockaddr* mask) {
  const Result<IpAddress> bits = ip_of_socket_address(mask);
  if (!bits.ok()) return 0;
  int prefix = 0;
  for (const std::uint8_t byte : bits->bytes()) prefix += std::popcount(byte);
  return prefix;
}

}  // namespace

bool is_link_local(const IpAddress& address) {
  const auto& bytes = address.bytes();
  return address.is_v4() ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

Result<IpAddress> ip_of_socket_address(const sockaddr* address) {
  if (address && address->sa_family == AF_INET) {
    return ip_of_bytes({reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr), 4});
  }
  if (address && address->sa_family == AF_INET6) {
    return ip_of_bytes({reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr), 16});
  }
  return error(Code::invalid, "the address is not of IP");
}

Result<std::vector<InterfaceAddress>> interface_addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return sys::system_error("reading the addresses of this machine");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, ::freeifaddrs);
  std::vector<InterfaceAddress> found;
  for (const ifaddrs* each = all; each; each = each->ifa_next) {
    const Result<IpAddress> address = ip_of_socket_address(each->ifa_addr);
    if (!address.ok() || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    InterfaceAddress one{.interface = each->ifa_name, .address = {address.value(), prefix_of(each->ifa_netmask)}};
    one.is_link_local = is_link_local(one.address.address);
    found.push_back(std::move(one));
  }
  return found;
}

Result<bool> has_address(const IpAddress& address) {
  const std::vector<InterfaceAddress> own = TRY(interface_addresses());
  return std::ranges::any_of(own, [&](const InterfaceAddress& it) { return it.address.address == address; });
}

}  // namespace slipway::net
