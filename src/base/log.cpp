#include "base/log.h"

#include <cstdio>

namespace slipway {

std::string_view to_string(Level level) {
  switch (level) {
    case Level::debug: return "debug";
    case Level::info: return "info";
    case Level::warn: return "warning";
    case Level::error: return "error";
  }
  return "error";
}

void Log::write(Level level, const std::string& line) {
  std::lock_guard lock(mutex_);
  sink_(level, line);
}

Log::Sink stderr_sink() {
  return [](Level level, std::string_view line) {
    const std::string text = fmt::format("{}: {}\n", to_string(level), line);
    // A single write, so that lines of several processes do not mix.
    std::fwrite(text.data(), 1, text.size(), stderr);
  };
}

}  // namespace slipway
