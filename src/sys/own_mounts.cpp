#include "sys/own_mounts.h"

#include "sys/fd.h"

#include <sched.h>
#include <sys/mount.h>
#include <cerrno>

namespace slipway::sys {

Result<> make_writable(const std::vector<std::string>& mount_points) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return system_error("making mounts of this program's own");
  }
  for (const std::string& path : mount_points) {
    // EINVAL: not a mount point
    if (::mount(nullptr, path.c_str(), nullptr, MS_REMOUNT | MS_BIND, nullptr) != 0 && errno != EINVAL) {
      return system_error("making " + path + " writable");
    }
  }
  return Ok{};
}

}  // namespace slipway::sys
