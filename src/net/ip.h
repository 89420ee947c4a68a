// IP addresses and networks, both families, as values.
#pragma once

#include "base/result.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace slipway::net {

// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address is read as IPv4.
class IpAddress {
 public:
  IpAddress() = default;  // 0.0.0.0

  bool is_v4() const { return v4_; }
  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }  // the first four for IPv4

  // The address plus `count`. errors: invalid: out of range
  Result<IpAddress> plus(std::uint64_t count) const;

  std::strong_ordering operator<=>(const IpAddress&) const = default;  // IPv6 before IPv4, then by number

 private:
  friend Result<IpAddress> parse_ip(std::string_view text);
  friend Result<IpAddress> ip_of_bytes(std::string_view bytes);
  friend struct Cidr;
  friend Result<struct Cidr> parse_cidr(std::string_view text);

  bool v4_ = true;
  std::array<std::uint8_t, 16> bytes_{};
};

// "10.97.77.5", "fd00::5"; without zone and leading zeros. errors: invalid
Result<IpAddress> parse_ip(std::string_view text);
std::string to_string(const IpAddress& address);  // RFC 5952
bool is_ip(std::string_view text);
Result<IpAddress> ip_of_bytes(std::string_view bytes);  // 4 or 16, as in packets. errors: invalid: another number

// "[fd00::5]:6443", "10.97.77.5:6443", "api.example.com:6443"
std::string host_and_port(std::string_view host, int port);

// An address and the length of its network prefix.
struct Cidr {
  IpAddress address;
  int prefix = 0;

  bool is_v4() const { return address.is_v4(); }
  int bits() const { return is_v4() ? 32 : 128; }
  IpAddress network() const;                      // the address with its host bits zero
  bool has_host_bits() const;                     // the address is not the network's own
  bool contains(const IpAddress& other) const;    // false for the other family
  bool overlaps(const Cidr& other) const;         // either contains the other's first address
  Result<IpAddress> host(std::uint64_t n) const;  // network() + n. errors: invalid: outside of the network

  bool operator==(const Cidr&) const = default;
};

// "10.97.77.0/24". Host bits may be set (see has_host_bits). errors: invalid
Result<Cidr> parse_cidr(std::string_view text);
std::string to_string(const Cidr& cidr);

}  // namespace slipway::net
