#include "sys/root.h"

#include "sys/fd.h"

#include <unistd.h>

namespace slipway::sys {

Result<> enter_root(const std::string& folder) {
  if (::chroot(folder.c_str()) != 0 || ::chdir("/") != 0) return system_error("entering " + folder);
  return Ok{};
}

}  // namespace slipway::sys
