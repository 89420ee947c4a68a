#include "sys/fd.h"

#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace slipway::sys {

namespace {

Code code_of(int errno_value) {
  switch (errno_value) {
    case ENOENT: return Code::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return Code::denied;
    case EEXIST:
    case ENOTEMPTY:
    case ENOTDIR:
    case EISDIR:
    case EBUSY:
    case ETXTBSY: return Code::conflict;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EAGAIN: return Code::unavailable;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP: return Code::invalid;
    default: return Code::internal;
  }
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Error system_error(std::string_view doing, int errno_value) {
  // glibc's strerror is thread-safe for known numbers: their messages are constants.
  return error(code_of(errno_value), "{}: {}", doing, std::strerror(errno_value));
}

Error system_error(std::string_view doing) { return system_error(doing, errno); }

Result<> write_all(const Fd& fd, std::string_view bytes, std::string_view doing) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(doing);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Ok{};
}

}  // namespace slipway::sys
