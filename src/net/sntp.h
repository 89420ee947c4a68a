// Asks time servers for the time (SNTP, RFC 4330), for machines without a program that keeps the clock.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sys/context.h"

#include <string>
#include <string_view>

namespace slipway::net {

// An answer of a server: its times are those of its own clock.
struct SntpAnswer {
  WallTime received{};
  WallTime sent{};
  bool is_synchronized = false;  // the server itself knows the time
};

// A request with a number that the answer repeats. Pure.
std::string sntp_request(std::string_view number_of_8_bytes);

// errors: invalid: not an answer to this request. Pure.
Result<SntpAnswer> parse_sntp_answer(std::string_view packet, std::string_view number_of_8_bytes);

// How much the clock of the server is ahead of the clock of this machine.
//
//   server  name or address; port 123
//   errors  unavailable: unknown name, no answer within the limit, a server that does not know the time itself; cancelled
//   time    up to the limit, and that of net::resolve_host
Result<Milliseconds> clock_offset(const sys::Context& context, const std::string& server, Milliseconds limit);

}  // namespace slipway::net
