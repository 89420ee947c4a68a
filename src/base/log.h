// Log: lines for people, of programs. Libraries return errors instead; what happened is told by events (sys/events.h).
//
//   log.info("release {} has {} images", version, count);
//   log.warn("cannot read motd: {}; continuing without it", why);      // a warning says what follows from it
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

// Hands each line of at least a level to a sink. Threads: any; lines do not mix, the sink is called by one at a time.
class Log {
 public:
  using Sink = std::function<void(Level, std::string_view)>;

  Log(Level least, Sink sink) : least_(least), sink_(std::move(sink)) {}

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

  bool wants(Level level) const { return level >= least_; }

 private:
  void write(Level level, const std::string& line);

  Level least_;
  std::mutex mutex_;
  Sink sink_;
};

// A sink that writes "warning: ..." lines to standard error.
Log::Sink stderr_sink();

}  // namespace slipway
