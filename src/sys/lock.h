// FileLock: mutual exclusion between processes, for instance for an asset directory. The kernel releases the lock when its
// owner ends, however it ends.
#pragma once

#include "base/result.h"
#include "sys/fd.h"

#include <string>

namespace slipway::sys {

class FileLock {
 public:
  // Acquires the lock or reports its holder; does not wait. Creates the file if it is missing and leaves it behind.
  //
  //   what    the object in the error message: "asset directory demo"
  //   errors  conflict: "asset directory demo: in use by process 4711 (slipway) (wait for it or stop it)"
  static Result<FileLock> acquire(const std::string& path, std::string_view what);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace slipway::sys
