// .openshift_install.log: the log of an asset directory. All commands that change a cluster or wait for it write it.
#pragma once

#include "base/result.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace slipway::cli {

inline constexpr std::string_view install_log_name = ".openshift_install.log";

// Whether a command writes the log. Commands that only read do not.
bool writes_install_log(std::string_view words);

// Appends lines of every level. Lines are buffered until the directory exists. A line that cannot be written is dropped;
// on_failure is called for the first one. Threads: any.
class InstallLog {
 public:
  InstallLog(sys::Files& files, sys::Clock& clock, std::string directory, std::function<void(const Error&)> on_failure)
      : files_(files), clock_(clock), directory_(std::move(directory)), on_failure_(std::move(on_failure)) {}

  void write(std::string_view level, std::string_view text);

 private:
  Result<> append(const std::string& lines);

  sys::Files& files_;
  sys::Clock& clock_;
  const std::string directory_;
  const std::function<void(const Error&)> on_failure_;
  std::mutex mutex_;
  std::string waiting_;  // lines that wait until the directory exists
  bool has_failed_ = false;
};

}  // namespace slipway::cli
