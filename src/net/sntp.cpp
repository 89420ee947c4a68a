#include "net/sntp.h"

#include "net/packets.h"
#include "net/resolve.h"
#include "sys/fd.h"
#include "sys/random.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace slipway::net {

namespace {

constexpr std::size_t packet_size = 48;
constexpr std::size_t stratum_at = 1, originate_at = 24, receive_at = 32, transmit_at = 40;
constexpr int port = 123;
constexpr char client = 0x23, mode_mask = 7, server_mode = 4;  // version 4
constexpr std::int64_t from_1900_to_1970 = 2'208'988'800;

std::uint64_t read32(std::string_view bytes, std::size_t at) {
  return std::uint64_t{read16(bytes, at)} << 16 | read16(bytes, at + 2);
}

WallTime time_at(std::string_view packet, std::size_t at) {
  // The seconds overflow in 2036: numbers whose first bit is 0 are then of the next era.
  const std::uint64_t seconds = read32(packet, at);
  const std::int64_t era = seconds < 0x80000000u ? std::int64_t{1} << 32 : 0;
  const auto milliseconds = static_cast<std::int64_t>(read32(packet, at + 4) * 1000 >> 32);
  return WallTime(Milliseconds((static_cast<std::int64_t>(seconds) + era - from_1900_to_1970) * 1000 + milliseconds));
}

Result<sys::Fd> connect_to(const IpAddress& address, const std::string& server) {
  sys::Fd socket(::socket(address.is_v4() ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return sys::system_error("opening a socket");
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(port);
  const std::string_view bytes = bytes_of(address);
  std::memcpy(address.is_v4() ? static_cast<void*>(&v4.sin_addr) : static_cast<void*>(&v6.sin6_addr), bytes.data(), bytes.size());
  const int status = address.is_v4() ? ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&v4), sizeof v4)
                                     : ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
  if (status != 0) return Error(Code::unavailable, sys::system_error("asking " + server).message());
  return socket;
}

}  // namespace

std::string sntp_request(std::string_view number) {
  std::string packet(packet_size, '\0');
  packet[0] = client;
  packet.replace(transmit_at, number.size(), number);
  return packet;
}

Result<SntpAnswer> parse_sntp_answer(std::string_view packet, std::string_view number) {
  if (packet.size() < packet_size || (packet[0] & mode_mask) != server_mode || packet.substr(originate_at, 8) != number) {
    return error(Code::invalid, "not an answer to this request");
  }
  const int stratum = static_cast<unsigned char>(packet[stratum_at]);
  const bool is_alarm = (static_cast<unsigned char>(packet[0]) >> 6) == 3;
  return SntpAnswer{.received = time_at(packet, receive_at),
                    .sent = time_at(packet, transmit_at),
                    .is_synchronized = stratum >= 1 && stratum <= 15 && !is_alarm};
}

Result<Milliseconds> clock_offset(const sys::Context& context, const std::string& server, Milliseconds limit) {
  const Resolved resolved = TRY(resolve_host(server));
  if (resolved.addresses.empty()) return error(Code::unavailable, "time server {}: the name has no address", server);
  const sys::Fd socket = TRY(connect_to(resolved.addresses.front(), server));
  sys::RealRandom random;
  const std::string number = TRY(random.bytes(8));
  const std::string request = sntp_request(number);
  const WallTime asked = context.clock.now();
  if (::send(socket.get(), request.data(), request.size(), 0) < 0) {
    return Error(Code::unavailable, sys::system_error("asking time server " + server).message());
  }
  std::optional<SntpAnswer> answer;
  WallTime answered{};
  TRY(receive_until(context, socket, context.clock.steady() + limit, [&](std::string_view packet) {
    Result<SntpAnswer> parsed = parse_sntp_answer(packet, number);
    if (!parsed.ok()) return true;
    answered = context.clock.now();
    answer = std::move(parsed).value();
    return false;
  }));
  if (!answer) return error(Code::unavailable, "time server {}: no answer within {}", server, human_duration(limit));
  if (!answer->is_synchronized) return error(Code::unavailable, "time server {}: does not know the time itself", server);
  return ((answer->received - asked) + (answer->sent - answered)) / 2;
}

}  // namespace slipway::net
