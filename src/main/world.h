// The real environment behind net::Environment, one for each program.
#pragma once

#include "net/curl_http.h"
#include "net/environment.h"
#include "sys/events.h"

#include <cstdio>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace slipway {

inline void write_to(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

// Events have no sink at first; the log goes to standard error by default.
struct World {
  World(std::string source, Level least, std::stop_token stop, Log::Sink lines = stderr_sink())
      : log(least, std::move(lines)), events(clock, std::move(source)), context{clock, log, events, std::move(stop)} {}

  net::Environment environment() {
    return {context, files, runner, random, http, [](std::string_view text) { write_to(stdout, text); }};
  }

  sys::RealClock clock;
  sys::RealFiles files;
  sys::RealRunner runner;
  sys::RealRandom random;
  net::CurlHttp http;
  Log log;
  sys::Events events;
  const sys::Context context;
};

}  // namespace slipway
