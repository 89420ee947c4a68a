#include "sys/lock.h"

#include "base/text.h"
#include "sys/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <cerrno>

namespace slipway::sys {

namespace {

// "process 4711 (slipway)", from the process ID in the lock file. The process may have ended.
std::string holder(const std::string& path) {
  RealFiles files;
  const std::string pid(trim(files.read(path).ok() ? files.read(path).value() : ""));
  if (pid.empty()) return "another process";
  Result<std::string> name = files.read(fmt::format("/proc/{}/comm", pid));
  return name.ok() ? fmt::format("process {} ({})", pid, trim(name.value())) : "process " + pid;
}

}  // namespace

Result<FileLock> FileLock::acquire(const std::string& path, std::string_view what) {
  const std::string doing = "locking " + path;
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open()) return system_error(doing);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(doing);
    return error(Code::conflict, "{}: in use by {} (wait for it or stop it)", what, holder(path));
  }
  if (::ftruncate(fd.get(), 0) != 0) return system_error(doing);
  TRY(write_all(fd, fmt::format("{}\n", ::getpid()), doing));
  return FileLock(std::move(fd));
}

}  // namespace slipway::sys
