#include "cli/install_log.h"

#include "cli/console.h"

#include <array>
#include <utility>

namespace slipway::cli {

bool writes_install_log(std::string_view words) {
  static constexpr std::array<std::string_view, 4> groups = {"create ", "destroy ", "gather ", "wait-for "};
  for (const std::string_view group : groups) {
    if (words.starts_with(group)) return true;
  }
  return false;
}

void InstallLog::write(std::string_view level, std::string_view text) {
  std::lock_guard lock(mutex_);
  const Result<> written = append(file_lines(clock_.now(), level, text));
  if (!written.ok() && !std::exchange(has_failed_, true)) on_failure_(written.error());
}

Result<> InstallLog::append(const std::string& lines) {
  const auto directory = TRY(files_.info(directory_));
  if (!directory) {
    waiting_ += lines;
    return Ok{};
  }
  // Stricter than openshift-install, which applies the umask.
  return files_.append(fmt::format("{}/{}", directory_, install_log_name), std::exchange(waiting_, "") + lines, 0600);
}

}  // namespace slipway::cli
