// Points in time and their text forms. sys/clock.h reads the clock.
#pragma once

#include "base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace slipway {

using Milliseconds = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;
using WallTime = std::chrono::sys_time<Milliseconds>;                                 // since 1970, UTC
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Milliseconds>;  // for deadlines and durations

// "2026-11-21T09:30:00.125Z" (RFC 3339); without the fraction if it is zero.
std::string to_rfc3339(WallTime time);

// errors: invalid. Offsets are converted to UTC; digits below the millisecond are dropped.
Result<WallTime> parse_rfc3339(std::string_view text);

// "85 ms", "2.4 s", "3 min 20 s", "1 h 5 min"
std::string human_duration(Milliseconds duration);

// Durations in the syntax of Kubernetes' flags: "250ms", "10m", "1h30m"; whole numbers of h, m, s, ms. errors: invalid
Result<Milliseconds> parse_duration(std::string_view text);

}  // namespace slipway
