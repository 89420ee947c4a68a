// IP addresses and networks, both families, as values.
#pragma once

#include "base/result.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace slipway::net {

// IPv4 or IPv6. An IPv4 address that is mapped into IPv6 is read as IPv4.
class IpAddress {
 public:
  IpAddress() = default;  // 0.0.0.0

  bool is_v4() const { return v4_; }
  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }  // of IPv4 the first four

  // The address so many above this one. errors: invalid when there is none
  Result<IpAddress> plus(std::uint64_t count) const;

  std::strong_ordering operator<=>(const IpAddress&) const = default;  // IPv6 before IPv4, then by number

 private:
  friend Result<IpAddress> parse_ip(std::string_view text);
  friend struct Cidr;
  friend Result<struct Cidr> parse_cidr(std::string_view text);

  bool v4_ = true;
  std::array<std::uint8_t, 16> bytes_{};
};

// "10.97.77.5", "fd00::5"; no zone, no leading zeros. errors: invalid
Result<IpAddress> parse_ip(std::string_view text);
std::string to_string(const IpAddress& address);  // RFC 5952
bool is_ip(std::string_view text);

// "[fd00::5]:6443", "10.97.77.5:6443", "api.example.com:6443"
std::string host_and_port(std::string_view host, int port);

// An address and how many bits of it name the network.
struct Cidr {
  IpAddress address;
  int prefix = 0;

  bool is_v4() const { return address.is_v4(); }
  int bits() const { return is_v4() ? 32 : 128; }
  IpAddress network() const;                      // the address with its host bits zero
  bool has_host_bits() const;                     // it is no network but an address in one
  bool contains(const IpAddress& other) const;    // false for the other family
  bool overlaps(const Cidr& other) const;         // either contains the other's first address
  Result<IpAddress> host(std::uint64_t n) const;  // network() + n. errors: invalid when that is outside

  bool operator==(const Cidr&) const = default;
};

// "10.97.77.0/24"; host bits may be set (see has_host_bits). errors: invalid
Result<Cidr> parse_cidr(std::string_view text);
std::string to_string(const Cidr& cidr);

}  // namespace slipway::net
