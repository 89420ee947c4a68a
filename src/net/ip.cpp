#include "net/ip.h"

#include "base/number.h"
#include "base/text.h"

#include <arpa/inet.h>

#include <algorithm>

namespace slipway::net {

namespace {

constexpr std::size_t v4_size = 4;
constexpr std::array<std::uint8_t, 12> mapped_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::uint8_t mask_of_byte(int prefix, std::size_t byte) {
  const int ones = std::clamp(prefix - static_cast<int>(byte) * 8, 0, 8);
  return static_cast<std::uint8_t>(0xff00 >> ones);
}

// Not inet_ntop, which writes ::1:5 as ::0.1.0.5.
std::string v6_text(const std::array<std::uint8_t, 16>& bytes) {
  std::array<unsigned, 8> groups;
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = bytes[2 * i] * 256u + bytes[2 * i + 1];
  std::size_t zeros_at = 0, zeros = 1;  // the first of the longest runs; a single group of zeros is not shortened
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i > zeros) zeros_at = i, zeros = end - i;
  }
  std::string text;
  for (std::size_t i = 0; i < groups.size();) {
    if (zeros > 1 && i == zeros_at) {
      text += "::";
      i += zeros;
      continue;
    }
    if (!text.empty() && !text.ends_with(':')) text += ':';
    text += fmt::format("{:x}", groups[i++]);
  }
  return text;
}

Result<int> parse_prefix(std::string_view text) {
  const std::optional<std::uint16_t> prefix = parse_number<std::uint16_t>(text);
  if (!prefix || (text[0] == '0' && text.size() > 1)) return error(Code::invalid, "'{}' is not a prefix length", to_utf8(text));
  return *prefix;
}

}  // namespace

Result<IpAddress> IpAddress::plus(std::uint64_t count) const {
  IpAddress sum = *this;
  for (std::size_t i = v4_ ? v4_size : bytes_.size(); i-- > 0 && count != 0;) {
    const std::uint64_t low = sum.bytes_[i] + (count & 0xff);
    sum.bytes_[i] = static_cast<std::uint8_t>(low);
    count = (count >> 8) + (low >> 8);
  }
  if (count != 0) return error(Code::invalid, "no address at that distance above {}", to_string(*this));
  return sum;
}

Result<IpAddress> parse_ip(std::string_view text) {
  // inet_pton stops at the first zero byte.
  const std::string copy(text.substr(0, text.find('\0')));
  IpAddress address;
  if (copy.size() == text.size() && inet_pton(AF_INET, copy.c_str(), address.bytes_.data()) == 1) return address;
  address.v4_ = false;
  if (copy.size() != text.size() || inet_pton(AF_INET6, copy.c_str(), address.bytes_.data()) != 1) {
    return error(Code::invalid, "'{}' is not an IP address", to_utf8(text));
  }
  return ip_of_bytes({reinterpret_cast<const char*>(address.bytes_.data()), address.bytes_.size()});
}

Result<IpAddress> ip_of_bytes(std::string_view bytes) {
  IpAddress address;
  if (bytes.size() != v4_size && bytes.size() != address.bytes_.size()) {
    return error(Code::invalid, "an IP address has 4 or 16 bytes, not {}", bytes.size());
  }
  const auto* from = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const bool is_mapped = bytes.size() != v4_size && std::equal(mapped_prefix.begin(), mapped_prefix.end(), from);
  if (is_mapped) return ip_of_bytes(bytes.substr(mapped_prefix.size()));
  address.v4_ = bytes.size() == v4_size;
  std::copy_n(from, bytes.size(), address.bytes_.begin());
  return address;
}

std::string to_string(const IpAddress& address) {
  const auto& bytes = address.bytes();
  if (!address.is_v4()) return v6_text(bytes);
  return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

bool is_ip(std::string_view text) { return parse_ip(text).ok(); }

std::string host_and_port(std::string_view host, int port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

IpAddress Cidr::network() const {
  IpAddress network = address;
  for (std::size_t i = 0; i < network.bytes_.size(); ++i) network.bytes_[i] &= mask_of_byte(prefix, i);
  return network;
}

bool Cidr::has_host_bits() const { return network() != address; }

bool Cidr::contains(const IpAddress& other) const {
  return other.is_v4() == is_v4() && Cidr{other, prefix}.network() == network();
}

bool Cidr::overlaps(const Cidr& other) const { return contains(other.network()) || other.contains(network()); }

Result<IpAddress> Cidr::host(std::uint64_t n) const {
  Result<IpAddress> found = network().plus(n);
  if (!found.ok() || !contains(found.value())) return error(Code::invalid, "{} has no address number {}", to_string(*this), n);
  return found;
}

Result<Cidr> parse_cidr(std::string_view text) {
  const std::string doing = fmt::format("network '{}'", to_utf8(text));
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return error(Code::invalid, "{}: '/' and a prefix length are missing", doing);
  Cidr cidr{TRY(parse_ip(text.substr(0, slash)).context(doing)), 0};
  cidr.prefix = TRY(parse_prefix(text.substr(slash + 1)).context(doing));
  const bool mapped = cidr.is_v4() && text.substr(0, slash).find(':') != std::string_view::npos;
  if (mapped) cidr.prefix -= static_cast<int>(mapped_prefix.size()) * 8;
  if (cidr.prefix < 0 || cidr.prefix > cidr.bits()) {
    return error(Code::invalid, "{}: prefix length must be between {} and {}", doing, mapped ? 96 : 0,
                 mapped ? 128 : cidr.bits());
  }
  return cidr;
}

std::string to_string(const Cidr& cidr) { return fmt::format("{}/{}", to_string(cidr.address), cidr.prefix); }

}  // namespace slipway::net
