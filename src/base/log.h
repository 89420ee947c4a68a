// Log: lines for people. Only programs log: libraries return errors, and events report progress (sys/events.h).
//
//   log.info("release {} has {} images", version, count);
//   log.warn("cannot read motd: {}; continuing without it", why);      // a warning says how the program continues
#pragma once

#include "base/guarded.h"

#include <fmt/core.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace slipway {

enum class Level { debug, info, warn, error };

std::string_view to_string(Level level);

// Passes lines of at least the minimum level to a sink. Threads: any; the sink is called by one thread at a time.
class Log {
 public:
  using Sink = std::function<void(Level, std::string_view)>;

  Log(Level min_level, Sink sink) : min_level_(min_level), sink_(std::move(sink)) {}

  template <class... Args>
  void debug(fmt::format_string<Args...> text, Args&&... args) {
    if (wants(Level::debug)) write(Level::debug, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void info(fmt::format_string<Args...> text, Args&&... args) {
    if (wants(Level::info)) write(Level::info, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> text, Args&&... args) {
    if (wants(Level::warn)) write(Level::warn, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void error(fmt::format_string<Args...> text, Args&&... args) {
    if (wants(Level::error)) write(Level::error, fmt::format(text, std::forward<Args>(args)...));
  }

  bool wants(Level level) const { return level >= min_level_; }

 private:
  void write(Level level, const std::string& line);

  Level min_level_;
  std::mutex mutex_;
  Sink sink_;
};

// A sink that writes "warning: ..." lines to standard error.
Log::Sink stderr_sink();

}  // namespace slipway
